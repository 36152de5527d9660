// Hunts for a command that fails without words, with the wrong exit code, or after it has done half of it: every command and
// every option meets bad input, as a real process, and the message and the code are written out here.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Stage, TOOLS } from "./command-stage.ts"

interface CommandFact {
  readonly command: string
  readonly arguments: readonly { readonly argument: string; readonly required: boolean }[]
  readonly options: readonly { readonly option: string; readonly value: string | null; readonly required: boolean }[]
}

/** The words after `invoke`, the exit code, and the message without its start and code. */
type Row = readonly [args: string, code: number, error: string, says: string]

const ID = "01920000-0000-7000-8000-000000000000"
const HELP = (command: string): string => `Read \`invoke ${command} --help\`.`
const NO_OPERATION = `there is no operation ${ID}. Check the id and the journal; \`invoke ops ls\` lists what is there.`
const NO_JOURNAL =
  "there is no journal at <folder>/none.db. Check the path. A new journal is made by `invoke call --create`, or by the application that opens it."
const BROKEN =
  "cannot open the journal <folder>/broken.db: file is not a database. Check the path; a damaged journal is replaced from a backup (`invoke backup`)."
const PARAMS = `Write --params '{"invoice":"84721"}', --params @FILE, or --params - for standard input.`

/** What every command that opens a journal meets. */
function journalRows(command: string, args = ""): readonly Row[] {
  const words = `${command}${args === "" ? "" : ` ${args}`}`
  return [
    [`${words} --journal none.db`, 2, "invalid_request", NO_JOURNAL],
    [`${words} --nope`, 2, "unsupported_option", "there is no option --nope"],
  ]
}

/** A file that is no journal, for a command of each kind: one that reads, one that writes, one that copies. */
function brokenRows(command: string, args = ""): readonly Row[] {
  const words = `${command}${args === "" ? "" : ` ${args}`}`
  return [
    [`${words} --journal broken.db`, 1, "journal_unavailable", BROKEN],
    [`${words} --journal`, 2, "invalid_request", `--journal has no value. ${HELP(command)}`],
  ]
}

const TOOL_ARGS = `--tools ${TOOLS}`

const ROWS: { readonly [command: string]: readonly Row[] } = {
  demo: [
    ["demo --nope", 2, "unsupported_option", `there is no option --nope. ${HELP("demo")}`],
    ["demo 2", 2, "invalid_request", `"2" is one word too many. ${HELP("demo")}`],
  ],
  init: [
    ["init --strict", 2, "unsupported_option", `there is no option --strict. ${HELP("init")}`],
    ["init a b", 2, "invalid_request", `"b" is one word too many. ${HELP("init")}`],
    [
      "init taken",
      2,
      "invalid_request",
      "<folder>/taken/tools.js is there already, and init overwrites nothing. Name another folder: invoke init DIR.",
    ],
    [
      "init broken.db",
      2,
      "invalid_request",
      "<folder>/broken.db/tools.js is there already, and init overwrites nothing. Name another folder: invoke init DIR.",
    ],
  ],
  call: [
    ...journalRows("call", `test.mail ${TOOL_ARGS} --params {}`),
    ...brokenRows("call", `test.mail ${TOOL_ARGS} --params {}`),
    ["call", 2, "invalid_request", `TOOL is missing; --tools is missing; --params is missing. ${HELP("call")}`],
    ["call test.mail", 2, "invalid_request", `--tools is missing; --params is missing. ${HELP("call")}`],
    [`call test.mail ${TOOL_ARGS} --params {`, 2, "invalid_request", `--params: the value is not JSON text. ${PARAMS}`],
    [
      `call test.mail ${TOOL_ARGS} --params @none.json`,
      2,
      "invalid_request",
      `--params: <folder>/none.json is not there. ${PARAMS}`,
    ],
    [
      `call test.mail ${TOOL_ARGS} --params @taken`,
      2,
      "invalid_request",
      `--params: <folder>/taken cannot be read. ${PARAMS}`,
    ],
    [`call test.mail ${TOOL_ARGS} --params -`, 2, "invalid_request", `--params: the value is not JSON text. ${PARAMS}`],
    [
      `call test.mail ${TOOL_ARGS} --params @large.json`,
      2,
      "payload_too_large",
      "the parameters are larger than 65536 bytes. Send a reference to the data instead of the data.",
    ],
    [
      "call test.mail --tools none.js --params {}",
      2,
      "config_invalid",
      "<folder>/none.js is not there. Check --tools.",
    ],
    [
      "call test.mail --tools empty.mjs --params {}",
      2,
      "config_invalid",
      "<folder>/empty.mjs exports no list of tools. Write: export const tools = [defineTool({ … })].",
    ],
    [
      "call test.mail --tools throws.mjs --params {}",
      2,
      "config_invalid",
      "<folder>/throws.mjs cannot be loaded: no database. Correct the module.",
    ],
    [
      "call test.mail --tools plain.mjs --params {}",
      2,
      "definition_invalid",
      'tool "test.mail": a plain object is no tool. Write `tools: [defineTool({ … })]`.',
    ],
    [`call test.post ${TOOL_ARGS} --params {}`, 2, "unknown_tool", 'there is no tool "test.post"'],
    [`call test.mail ${TOOL_ARGS} --params {}`, 2, "invalid_params", "test.mail does not take these parameters: id: "],
    [
      `call test.charge ${TOOL_ARGS} --params {"id":"x"}`,
      2,
      "identity_required",
      "the call of test.charge has no identity, so a repeat of it could not be told from a new action",
    ],
    [
      `call test.charge ${TOOL_ARGS} --params {"id":"x"} --key d:1`,
      2,
      "invalid_request",
      'idempotency_key begins with "d:"',
    ],
    [`call test.mail ${TOOL_ARGS} --params {} --key`, 2, "invalid_request", `--key has no value. ${HELP("call")}`],
    [`call test.mail ${TOOL_ARGS} --params {} --run-id=`, 2, "invalid_request", '"--run-id=" is one word too many'],
    [
      `call test.mail ${TOOL_ARGS} --params {} --agent a --agent b`,
      2,
      "invalid_request",
      `--agent is given twice. ${HELP("call")}`,
    ],
    [
      `call test.mail ${TOOL_ARGS} --params {} --wait soon`,
      2,
      "invalid_request",
      `--wait: "soon" is not a length of time; write it like "90d", "12h", "5m" or "20s". ${HELP("call")}`,
    ],
    [
      `call test.mail ${TOOL_ARGS} --params {} --wait 20`,
      2,
      "invalid_request",
      `--wait: "20" is not a length of time; write it like "90d", "12h", "5m" or "20s". ${HELP("call")}`,
    ],
    [`call test.mail ${TOOL_ARGS} --params {} --create=maybe`, 2, "invalid_request", "--create: "],
    [
      `call test.mail ${TOOL_ARGS} --params {"id":"1"} --journal nowhere/x.db --create`,
      1,
      "journal_unavailable",
      "the folder <folder>/nowhere is not there. Run the same command later.",
    ],
  ],
  "ops ls": [
    ...journalRows("ops ls"),
    ...brokenRows("ops ls"),
    ["ops destroy", 2, "invalid_request", `there is no command "destroy". Read \`invoke ops --help\`.`],
    ["ops lss", 2, "invalid_request", `there is no command "lss" (did you mean ls?). Read \`invoke ops --help\`.`],
    ["ops ls --state lost", 2, "invalid_request", `--state: "lost" is none of held, awaiting_approval, ready`],
    ["ops ls --open --state held", 2, "invalid_request", "--open and --state are two ways to say it; give one"],
    ["ops ls --older-than never", 2, "invalid_request", `--older-than: "never" is not a length of time`],
    ["ops ls --where invoice", 2, "invalid_request", `--where: "invoice" is not name:value. ${HELP("ops ls")}`],
    ["ops ls --where :1", 2, "invalid_request", `--where: ":1" is not name:value. ${HELP("ops ls")}`],
    ["ops ls --limit 0", 2, "invalid_request", `--limit: "0" is not a whole number from 1 to 500. ${HELP("ops ls")}`],
    [
      "ops ls --limit 501",
      2,
      "invalid_request",
      `--limit: "501" is not a whole number from 1 to 500. ${HELP("ops ls")}`,
    ],
    ["ops ls --tool", 2, "invalid_request", `--tool has no value. ${HELP("ops ls")}`],
    ["ops ls --agent", 2, "invalid_request", `--agent has no value. ${HELP("ops ls")}`],
    ["ops ls --key", 2, "invalid_request", `--key has no value. ${HELP("ops ls")}`],
    ["ops ls --cursor", 2, "invalid_request", `--cursor has no value. ${HELP("ops ls")}`],
    ["ops ls --contradicted=maybe", 2, "invalid_request", "--contradicted: "],
  ],
  "ops show": [
    ...journalRows("ops show", ID),
    ["ops show", 2, "invalid_request", `ID is missing. ${HELP("ops show")}`],
    [`ops show ${ID}`, 2, "operation_not_found", NO_OPERATION],
    [`ops show ${ID} --payload=maybe`, 2, "invalid_request", "--payload: "],
  ],
  "ops watch": [
    ...journalRows("ops watch", ID),
    [`ops watch ${ID}`, 2, "operation_not_found", NO_OPERATION],
    [`ops watch ${ID} --wait long`, 2, "invalid_request", `--wait: "long" is not a length of time`],
  ],
  "ops allow": [...verbRows("allow", "--reason r"), ...toolRows("allow", "--reason r")],
  "ops cancel": [
    ...verbRows("cancel", ""),
    ...brokenRows("ops cancel", ID),
    [`ops cancel ${ID} --reason`, 2, "invalid_request", `--reason has no value. ${HELP("ops cancel")}`],
  ],
  "ops resolve": [
    ...verbRows("resolve", "--to succeeded --reason r"),
    [`ops resolve ${ID}`, 2, "invalid_request", `--to is missing; --reason is missing. ${HELP("ops resolve")}`],
    [
      `ops resolve ${ID} --to failed --reason r`,
      2,
      "invalid_request",
      `--to: "failed" is none of succeeded, not_applied, undone, ready, closed_unknown. ${HELP("ops resolve")}`,
    ],
    [
      `ops resolve ${ID} --to succeeded --reason r --evidence ticket`,
      2,
      "invalid_request",
      `--evidence: "ticket" is not name=value. ${HELP("ops resolve")}`,
    ],
    [
      `ops resolve ${ID} --to succeeded --reason r --evidence a=1 --evidence a=2`,
      2,
      "invalid_request",
      "--evidence a is given twice; give each fact a name of its own. Correct the named field.",
    ],
    [`ops resolve ${ID} --to ready --reason r --object-id`, 2, "invalid_request", "--object-id has no value"],
    [`ops resolve ${ID} --to ready --reason r --process-gone=maybe`, 2, "invalid_request", "--process-gone: "],
  ],
  "ops retry": [
    ...verbRows("retry", "--after-attempt 1"),
    ...toolRows("retry", "--after-attempt 1"),
    [`ops retry ${ID}`, 2, "invalid_request", `--after-attempt is missing. ${HELP("ops retry")}`],
    [
      `ops retry ${ID} --after-attempt last`,
      2,
      "invalid_request",
      `--after-attempt: "last" is not a whole number from 0 on`,
    ],
  ],
  "ops supersede": [
    ...verbRows("supersede", `${TOOL_ARGS} --params {} --expected-version 1`),
    ...toolRows("supersede", "--params {} --expected-version 1"),
    [
      `ops supersede ${ID}`,
      2,
      "invalid_request",
      `--tools is missing; --params is missing; --expected-version is missing. ${HELP("ops supersede")}`,
    ],
    [
      `ops supersede ${ID} ${TOOL_ARGS} --params [ --expected-version 1`,
      2,
      "invalid_request",
      `--params: the value is not JSON text. ${PARAMS}`,
    ],
  ],
  "ops repeat": [
    ...verbRows("repeat", `${TOOL_ARGS} --reason r`),
    ...toolRows("repeat", "--reason r"),
    [`ops repeat ${ID}`, 2, "invalid_request", `--tools is missing; --reason is missing. ${HELP("ops repeat")}`],
  ],
  "ops reconcile": [...verbRows("reconcile", ""), ...toolRows("reconcile", "")],
  "ops amend": [
    ...verbRows("amend", "--to succeeded --reason r"),
    [`ops amend ${ID}`, 2, "invalid_request", `--to is missing; --reason is missing. ${HELP("ops amend")}`],
    [
      `ops amend ${ID} --to ready --reason r`,
      2,
      "invalid_request",
      `--to: "ready" is none of succeeded, undone, not_applied, closed_unknown. ${HELP("ops amend")}`,
    ],
  ],
  "workers ls": [...journalRows("workers ls"), ["workers ls --all=maybe", 2, "invalid_request", "--all: "]],
  "workers gone": [
    ...journalRows("workers gone", "w1 --reason r"),
    ["workers gone", 2, "invalid_request", `WORKER is missing; --reason is missing. ${HELP("workers gone")}`],
    [
      "workers gone w1 --reason r",
      2,
      "invalid_request",
      "there is no worker w1 in this journal. Read `invoke workers ls --all`.",
    ],
    ["workers gone w1 --reason r --as", 2, "invalid_request", `--as has no value. ${HELP("workers gone")}`],
  ],
  "incidents ls": [
    ...journalRows("incidents ls"),
    ["incidents ls --operation", 2, "invalid_request", `--operation has no value. ${HELP("incidents ls")}`],
    ["incidents ls --all=maybe", 2, "invalid_request", "--all: "],
  ],
  "incidents close": [
    ...journalRows("incidents close", "i1 --resolution r"),
    ["incidents close", 2, "invalid_request", `ID is missing; --resolution is missing. ${HELP("incidents close")}`],
    [
      "incidents close i1 --resolution r",
      2,
      "invalid_request",
      "there is no incident i1 in this journal. Read `invoke incidents ls --all`.",
    ],
    ["incidents close i1 --resolution r --as", 2, "invalid_request", `--as has no value. ${HELP("incidents close")}`],
  ],
  "quarantine show": [
    ...journalRows("quarantine show"),
    ["quarantine raise", 2, "invalid_request", `there is no command "raise". Read \`invoke quarantine --help\`.`],
  ],
  "quarantine lift": [
    ...journalRows("quarantine lift", "--statement s"),
    ["quarantine lift", 2, "invalid_request", `--statement is missing. ${HELP("quarantine lift")}`],
    [
      "quarantine lift --statement s",
      4,
      "illegal_transition",
      "the journal is not in quarantine. There is nothing to lift.",
    ],
    ["quarantine lift --statement s --as", 2, "invalid_request", `--as has no value. ${HELP("quarantine lift")}`],
  ],
  "audit verify": [
    ...journalRows("audit verify"),
    [`audit verify --operation ${ID}`, 2, "operation_not_found", NO_OPERATION],
  ],
  purge: [
    ...journalRows("purge", "--older-than 90d"),
    ["purge", 2, "invalid_request", `--older-than is missing. ${HELP("purge")}`],
    ["purge --older-than 90", 2, "invalid_request", `--older-than: "90" is not a length of time`],
    ["purge --older-than -1d", 2, "invalid_request", `--older-than: "-1d" is not a length of time`],
    ["purge --older-than 90d --dry-run=maybe", 2, "invalid_request", "--dry-run: "],
  ],
  backup: [
    ...journalRows("backup", "copy.db"),
    ...brokenRows("backup", "copy.db"),
    ["backup", 2, "invalid_request", `TARGET is missing. ${HELP("backup")}`],
    [
      "backup broken.db",
      2,
      "invalid_request",
      "<folder>/broken.db is there already, and a backup overwrites nothing. Name a new file.",
    ],
    [
      "backup nowhere/copy.db",
      2,
      "invalid_request",
      "the folder <folder>/nowhere is not there. Name a file in a folder that is.",
    ],
  ],
  prove: [
    ["prove", 2, "invalid_request", `FILE.js is missing. ${HELP("prove")}`],
    [`prove ${TOOLS} --nope`, 2, "unsupported_option", `there is no option --nope. ${HELP("prove")}`],
    [`prove ${TOOLS} --tool`, 2, "invalid_request", `--tool has no value. ${HELP("prove")}`],
    [`prove ${TOOLS} --only`, 2, "invalid_request", `--only has no value. ${HELP("prove")}`],
    ["prove none.js", 2, "config_invalid", "<folder>/none.js is not there. Check the path."],
    [
      `prove ${TOOLS}`,
      2,
      "config_invalid",
      "the module exports no `prove`. Write: export const prove = { charge_customer: { params: {…}, provider: ({ now }) => ({ handle, effects }) } }.",
    ],
  ],
  doctor: [
    ["doctor --nope", 2, "unsupported_option", `there is no option --nope. ${HELP("doctor")}`],
    ["doctor --journal", 2, "invalid_request", `--journal has no value. ${HELP("doctor")}`],
    ["doctor now", 2, "invalid_request", `"now" is one word too many. ${HELP("doctor")}`],
  ],
  help: [
    ["help ops list", 2, "invalid_request", 'there is no command "ops list". Read `invoke --help`.'],
    ["help a b c", 2, "invalid_request", `"c" is one word too many. ${HELP("help")}`],
    ["help --nope", 2, "unsupported_option", `there is no option --nope. ${HELP("help")}`],
    ["halp", 2, "invalid_request", 'there is no command "halp" (did you mean help?). Read `invoke --help`.'],
  ],
}

/** What every verb of an operation meets. */
function verbRows(verb: string, args: string): readonly Row[] {
  const words = `${ID}${args === "" ? "" : ` ${args}`}`
  const command = `ops ${verb}`
  const takesVersion = verb !== "retry" && verb !== "repeat" && verb !== "reconcile"
  return [
    ...journalRows(command, words),
    [`${command} ${words}`, 2, "operation_not_found", NO_OPERATION],
    [`${command} ${args}`.trim(), 2, "invalid_request", `ID is missing. ${HELP(command)}`],
    [`${command} ${words} again`, 2, "invalid_request", `"again" is one word too many. ${HELP(command)}`],
    [`${command} ${words} --as`, 2, "invalid_request", `--as has no value. ${HELP(command)}`],
    ...(args.includes("--reason r")
      ? ([
          [`${command} ${words.replace("--reason r", "--reason ''")}`, 2, "invalid_request", "--reason: it is empty"],
        ] as const)
      : []),
    ...(takesVersion
      ? ([
          [
            `${command} ${words.replace(/ --expected-version 1/, "")} --expected-version 0`,
            2,
            "invalid_request",
            `--expected-version: "0" is not a whole number from 1 on. ${HELP(command)}`,
          ],
        ] as const)
      : []),
  ]
}

/** What every verb that carries a tool meets. */
function toolRows(verb: string, args: string): readonly Row[] {
  const command = `ops ${verb} ${ID}${args === "" ? "" : ` ${args}`}`
  return [
    [`${command} --tools none.js`, 2, "config_invalid", "<folder>/none.js is not there. Check --tools."],
    [`${command} --tools`, 2, "invalid_request", `--tools has no value. ${HELP(`ops ${verb}`)}`],
    [`${command} ${TOOL_ARGS} --wait x`, 2, "invalid_request", `--wait: "x" is not a length of time`],
  ]
}

const stage = new Stage()
let commands: readonly CommandFact[] = []

beforeAll(async () => {
  await stage.call("test.mail", { id: "first" })
  stage.file("broken.db", "this is no database, but it is longer than a header of one would be".repeat(9))
  stage.file("empty.mjs", "export const tool = 1\n")
  stage.file("throws.mjs", 'throw new Error("no database")\n')
  stage.file("plain.mjs", 'export const tools = [{ name: "test.mail" }]\n')
  stage.file("large.json", JSON.stringify({ id: "x".repeat(70_000) }))
  await stage.run(["init", "taken"])
  commands = (await stage.json<{ commands: readonly CommandFact[] }>(["help"])).value.commands
})

afterAll(() => stage.close())

/** As a shell would split it. */
function split(line: string): string[] {
  return line.split(" ").map((word) => (word === "''" ? "" : word))
}

describe("bad input", () => {
  const rows = Object.values(ROWS).flat()
  const unique = rows.filter(([args], index) => rows.findIndex(([other]) => other === args) === index)

  test.concurrent.each(unique)("invoke %s exits with %i (%s)", async (args, code, error, says) => {
    const ran = await stage.run(split(args))
    const message = ran.stderr.replaceAll(stage.folder, "<folder>")
    expect(message).toContain(`invoke: ${says}`)
    expect(message.endsWith(`(${error})\n`)).toBe(true)
    expect(message.trimEnd().split("\n")).toHaveLength(1)
    expect(ran.code).toBe(code)
    expect(ran.stdout).toBe("")
  })
})

test("every command has rows, and every row a command", () => {
  const names = commands.map(({ command }) => command.replace("invoke ", ""))
  expect(Object.keys(ROWS).toSorted()).toEqual(names.toSorted())
})

test("every option that takes a value is in a row of its command", () => {
  const missing = commands.flatMap(({ command, options }) => {
    const rows = ROWS[command.replace("invoke ", "")] ?? []
    return options
      .filter(({ option }) => option !== "--json" && !rows.some(([args]) => args.includes(option)))
      .map(({ option }) => `${command} ${option}`)
  })
  expect(missing).toEqual([])
})

test("nothing that was refused as bad input reached the outside", () => {
  expect(stage.effects()).toEqual(["first"])
})

test("with --json an error is problem JSON on standard error, and standard output is empty", async () => {
  for (const args of [["ops", "show"], ["ops", "show", ID], ["nope"], ["ops", "ls", "--nope"]]) {
    const { stdout, stderr, code } = await stage.run([...args, "--json"])
    const problem = JSON.parse(stderr) as { code: string; exit: number; detail: string; status: number }
    expect(stdout).toBe("")
    expect(problem.exit).toBe(code)
    expect(problem.detail.length).toBeGreaterThan(0)
  }
})

test("a journal is named in one of two ways, or refused", async () => {
  const { code, stderr } = await stage.run(["ops"], { journal: "" })
  expect(stderr).toBe(
    "invoke: no journal is named, and there is no default: two journals are two Invokes. Pass --journal PATH, or set INVOKE_JOURNAL. (invalid_request)\n",
  )
  expect(code).toBe(2)
})
