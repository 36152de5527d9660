// Hunts: a mistake in the program that is ignored, told without saying what to do, or told after something ran.
// One row for each export of @invokejs/invoke: its bad inputs, and what is answered. An export without a row fails.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as api from "@invokejs/invoke"
import { isErrorCode } from "@invokejs/protocol"
import { describe, expect, onTestFinished, test } from "vitest"
import { BILL, INVOICE, Outside, payTool, type Behaviour, type Over } from "./outside.ts"
import { row, world } from "./world.ts"

const { absent, collided, decimal, defineTool, fenced, found, id, instant, Invoke, InvokeError } = api
const { minor, notApplied, outcome, text, unsure } = api

interface Answer {
  /** An error's code or name; of a word, what becomes of it. */
  readonly code: string
  readonly message: string
}

type Row = readonly [what: string, act: () => unknown, code: string, message: RegExp]

const any = (value: unknown) => value as never

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "invoke-bad-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const path = () => join(folder(), "invoke.db")

/** Opens an embedded Invoke, and calls one that says nothing. */
async function calling(options: object, tools: Over = {}): Promise<unknown> {
  const { clock, open } = world()
  const outside = new Outside(clock)
  const invoke = await open([payTool(outside, tools)])
  try {
    return await invoke.call({ tool: "pay", params: BILL, wait: 0, ...options })
  } finally {
    expect(outside.requests.length).toBeLessThan(2)
  }
}

/** What the engine makes of a word: of an attempt, or of a look after a lost answer. */
async function heard(behaviour: Behaviour, over: Over = {}): Promise<Answer> {
  const { clock, open } = world()
  const outside = new Outside(clock)
  outside.script = [behaviour]
  const invoke = await open([payTool(outside, { attempts: 1, ...over })])
  const { operation_id } = await invoke.call({ tool: "pay", params: BILL, wait: 0 })
  await clock.advance(3_000)
  const { state, evidence, output_error } = await row(invoke, operation_id)
  const said = evidence.map((one) => ("reason" in one.finding ? one.finding.reason : one.finding.kind)).join("; ")
  return { code: state, message: `${said} ${output_error ?? ""}` }
}

const looked = (word: unknown) => heard("lose_answer", { probe: () => word })

const TOOL = {
  name: "pay",
  safety: "irreversible",
  input: INVOICE,
  applied: "returned",
  identity: () => ({ invoice: id("1") }),
  execute: () => 1,
}
const tool = (over: object) => defineTool(any({ ...TOOL, ...over }))
const PROBE = { safety: "write-once-checkable", probe: () => 1, expect: () => ({ effect: { a: true } }) }

const ROWS: { readonly [name in keyof typeof api]: readonly Row[] } = {
  Invoke: [
    ["nothing", () => Invoke.open(any(undefined)), "invalid_request", /takes an object/],
    ["no path", () => Invoke.open(any({})), "invalid_request", /needs the path/],
    ["a path that is blank", () => Invoke.open({ journal: " " }), "invalid_request", /no default/],
    [
      "another option",
      () => Invoke.open(any({ journal: "x", jurnal: "y" })),
      "unsupported_option",
      /"jurnal".*Use one of/,
    ],
    ["a mode that is none", () => Invoke.open(any({ journal: path(), mode: "fast" })), "invalid_request", /mode/],
    ["a log that is none", () => Invoke.open(any({ journal: path(), log: "loud" })), "invalid_request", /log/],
    [
      "reconcile that is no flag",
      () => Invoke.open(any({ journal: path(), reconcile: "no" })),
      "invalid_request",
      /reconcile/,
    ],
    ["a name that is no string", () => Invoke.open(any({ journal: path(), name: 7 })), "invalid_request", /name/],
    [
      "a driver that is none",
      () => Invoke.open(any({ journal: path(), driver: "sqlite3" })),
      "invalid_request",
      /driver/,
    ],
    [
      "tools that are no list",
      () => Invoke.open(any({ journal: path(), tools: tool({}) })),
      "invalid_request",
      /tools/,
    ],
    [
      "a plain object as tool",
      () => Invoke.open(any({ journal: path(), tools: [TOOL], log: "silent" })),
      "definition_invalid",
      /plain object/,
    ],
    [
      "two tools of one name",
      () => Invoke.open({ journal: path(), tools: [tool({}), tool({})], log: "silent" }),
      "duplicate_tool",
      /pay/,
    ],
    ["a folder", () => Invoke.open({ journal: folder(), log: "silent" }), "journal_unavailable", /cannot be opened/],
    [
      "a folder that is not there",
      () => Invoke.open({ journal: join(folder(), "a", "b.db"), log: "silent" }),
      "journal_unavailable",
      /cannot be opened/,
    ],
    [
      "a file that is no journal",
      () => {
        const file = path()
        writeFileSync(file, "this is no database, but a text that is long enough to be read as a header of one")
        return Invoke.open({ journal: file, log: "silent" })
      },
      "journal_unavailable",
      /cannot be opened/,
    ],

    ["a call of nothing", () => calling({ tool: undefined }), "invalid_request", /tool is missing/],
    ["a call of no tool", () => calling({ tool: "pya" }), "unknown_tool", /Did you mean "pay"/],
    [
      "a call with an option that is none",
      () => calling({ idempotency_key: "k" }),
      "unsupported_option",
      /idempotency_key.*Use one of/,
    ],
    ["a call with an option of a later version", () => calling({ workflow: "w" }), "unsupported_option", /workflow/],
    ["a key that is no string", () => calling({ idempotencyKey: 7 }), "invalid_request", /not a string/],
    ["a wait without a unit", () => calling({ wait: "20" }), "invalid_request", /not a duration/],
    ["a wait that is negative", () => calling({ wait: -1 }), "invalid_request", /not a duration/],
    ["a signal that is none", () => calling({ signal: {} }), "invalid_request", /AbortSignal/],
    ["a flag that is none", () => calling({ retryOnRepeat: "yes" }), "invalid_request", /true or false/],
    ["an agent without a name", () => calling({ agentId: " " }), "invalid_request", /agentId/],
    ["a tenant that is too long", () => calling({ tenant: "x".repeat(201) }), "invalid_request", /tenant/],
    ["labels that are no strings", () => calling({ labels: { a: 1 } }), "invalid_request", /labels/],
    ["labels that are a list", () => calling({ labels: ["a"] }), "invalid_request", /labels/],
    ["identical calls without a turn", () => calling({ identicalCalls: "each" }), "invalid_request", /turnId/],
    ["no parameters", () => calling({ params: undefined }), "invalid_params", /JSON/],
    ["parameters that are no JSON", () => calling({ params: { ...BILL, amount: 1n } }), "invalid_params", /not JSON/],
    [
      "parameters with a value that JSON drops",
      () => calling({ params: { ...BILL, note: undefined } }),
      "invalid_params",
      /note/,
    ],
    [
      "parameters that the schema refuses",
      () => calling({ params: { invoice: 7, amount: "x" } }),
      "invalid_params",
      /invoice.*amount/,
    ],
    [
      "parameters that are too large",
      () => calling({ params: { ...BILL, note: "x".repeat(70_000) } }),
      "payload_too_large",
      /65536/,
    ],
    ["no identity", () => calling({}, { identity: undefined }), "identity_required", /idempotencyKey/],
    ["an operation that is not there", async () => (await opened()).wait("nobody"), "operation_not_found", /nobody/],
    ["an id that is no string", async () => (await opened()).operation(any(7)), "invalid_request", /operation id/],
    [
      "a wait's end that is none",
      async () => (await opened()).wait("x", { wait: any("soon") }),
      "invalid_request",
      /wait/,
    ],
    ["a page of nothing", async () => (await opened()).operations({}, { limit: 0 }), "invalid_request", /limit/],
    ["a drain that is none", async () => (await opened()).close({ drain: any("later") }), "invalid_request", /drain/],
    ["an event that is none", async () => (await opened()).on(any("attend"), () => 1), "unsupported_option", /attend/],
    ["an operator without a name", async () => (await opened()).operator(any({})), "invalid_request", /name/],
    ["an operator of nothing", async () => (await opened()).operator(any(undefined)), "invalid_request", /name/],
    ["a right that is none", async () => (await opened()).rights(any(["reslove"])), "unsupported_option", /reslove/],
    [
      "a verb without options",
      async () => (await opened()).operator({ name: "a" }).allow("x", any(undefined)),
      "invalid_request",
      /reason/,
    ],
    [
      "a guard of no function",
      async () => (await opened()).guard(any(7), any({ name: "pay" })),
      "definition_invalid",
      /function to guard/,
    ],
    [
      "a guard without identity",
      async () => (await opened()).guard(() => 1, any({ name: "pay", applied: "returned" })),
      "definition_invalid",
      /identity/,
    ],
    [
      "a guard without `applied`",
      async () => (await opened()).guard(() => 1, any({ name: "pay", identity: TOOL.identity })),
      "applied_missing",
      /applied/,
    ],
    [
      "a guard of a taken name",
      async () => {
        const invoke = await opened()
        const options = any({ name: "pay", applied: "returned", identity: TOOL.identity })
        invoke.guard(() => 1, options)
        return invoke.guard(() => 1, options)
      },
      "duplicate_tool",
      /pay/,
    ],
  ],

  defineTool: [
    ["nothing", () => defineTool(any(undefined)), "definition_invalid", /object of options/],
    ["no name", () => tool({ name: undefined }), "definition_invalid", /`name` is missing/],
    ["a name that providers refuse", () => tool({ name: "pay now" }), "definition_invalid", /1 to 64 letters/],
    ["no class", () => tool({ safety: undefined }), "definition_invalid", /safety/],
    ["a class that is none", () => tool({ safety: "safe" }), "definition_invalid", /safety/],
    ["no schema", () => tool({ input: undefined }), "definition_invalid", /input/],
    ["a schema that is none", () => tool({ input: { type: "object" } }), "definition_invalid", /input/],
    ["no function", () => tool({ execute: undefined }), "definition_invalid", /execute/],
    ["no `applied`", () => tool({ applied: undefined }), "applied_missing", /what a returned value means/],
    ["2xx without the transport", () => tool({ applied: "2xx" }), "definition_invalid", /transport: "invoke"/],
    ["an option that is none", () => tool({ exceute: 1 }), "unsupported_option", /Did you mean `execute`/],
    [
      "an option of a later version",
      () => tool({ approval: "required" }),
      "unsupported_option",
      /not supported by this version/,
    ],
    [
      "a checkable tool without probe",
      () => tool({ safety: "write-once-checkable" }),
      "definition_invalid",
      /needs a `probe`/,
    ],
    ["a probe without expect", () => tool({ ...PROBE, expect: undefined }), "expect_missing", /without `expect`/],
    ["a probe without cause", () => tool(PROBE), "probe_without_cause", /correlates/],
    [
      "an irreversible tool with probe",
      () => tool({ ...PROBE, safety: "irreversible" }),
      "definition_invalid",
      /nothing to look for/,
    ],
    ["an idempotent tool without key", () => tool({ safety: "idempotent" }), "definition_invalid", /key contract/],
    ["a read-only tool that applies", () => tool({ safety: "read-only" }), "definition_invalid", /changes nothing/],
    [
      "state without resource",
      () => tool({ ...PROBE, contract: { lookup: { correlates: "state" } } }),
      "resource_missing",
      /resource/,
    ],
    [
      "a fence without its contract",
      () => tool({ ...PROBE, contract: { lookup: { correlates: "operation" } }, fence: () => 1 }),
      "definition_invalid",
      /need each other/,
    ],
    ["a timeout that is none", () => tool({ timeout: "soon" }), "definition_invalid", /timeout/],
    [
      "a timeout longer than the deadline",
      () => tool({ timeout: "2h", deadline: "1h" }),
      "definition_invalid",
      /longer than the `deadline`/,
    ],
    ["attempts that are none", () => tool({ attempts: 0 }), "definition_invalid", /attempts/],
    [
      "a key that holds too little",
      () => tool({ contract: { key: { sentAs: "header:K", maxLength: 8 } } }),
      "definition_invalid",
      /maxLength/,
    ],
    [
      "an identity that is untyped",
      () => calling({}, { identity: () => ({ invoice: "84721" }) }),
      "invalid_params",
      /has no type/,
    ],
    ["an identity that is empty", () => calling({}, { identity: () => ({}) }), "invalid_params", /no field/],
    [
      "an identity that throws",
      () =>
        calling(
          {},
          {
            identity: () => {
              throw new Error("x")
            },
          },
        ),
      "invalid_params",
      /identity/,
    ],
    [
      "an expectation that anything would fulfil",
      () => calling({}, { expect: () => ({ effect: {} }) }),
      "definition_invalid",
      /effect is empty/,
    ],
    [
      "a schema that throws",
      () =>
        calling(
          {},
          {
            input: {
              "~standard": {
                version: 1,
                vendor: "x",
                validate: () => {
                  throw new Error("x")
                },
              },
            },
          },
        ),
      "invalid_params",
      /schema/,
    ],
    [
      "a schema that answers nothing",
      () => calling({}, { input: { "~standard": { version: 1, vendor: "x", validate: () => undefined } } }),
      "internal",
      /could not be made/,
    ],
  ],

  found: [
    ["nothing", () => looked(found(any(undefined))), "unknown", /object of id and state/],
    ["no id", () => looked(found(any({ state: {} }))), "unknown", /object's id/],
    ["no state", () => looked(found(any({ id: "1", operationId: "x" }))), "unknown", /object's state/],
    [
      "a state that is a list",
      () => looked(found(any({ id: "1", state: [] }))),
      "unknown",
      /as an object of its fields/,
    ],
    [
      "a time that is none",
      () => looked(found({ id: "1", createdAt: 12, state: {} })),
      "unknown",
      /createdAt is no time/,
    ],
    [
      "a state that cannot be stored",
      () => looked(found({ id: "1", state: { n: 1n } })),
      "unknown",
      /cannot be stored/,
    ],
  ],
  absent: [
    ["nothing", () => looked(absentOf(undefined)), "unknown", /no word/],
    ["no word on completeness", () => looked(absentOf({})), "unknown", /look/],
    ["completeness that is no flag", () => looked(absentOf({ complete: "yes" })), "unknown", /look/],
  ],
  unsure: [
    ["nothing", () => looked(unsure(any(undefined))), "unknown", /undefined/],
    ["a reason without end", () => looked(unsure("x".repeat(10_000))), "unknown", /^[^;]*; ?x{1,500} ?$/],
  ],
  notApplied: [["no reason", () => looked(notApplied(any(undefined))), "unknown", /undefined/]],
  fenced: [["as the answer of a probe", () => looked(fenced()), "unknown", /word of a fence/]],
  collided: [
    ["as the answer of a probe", () => looked(collided({ id: "1", state: {} })), "unknown", /word of a fence/],
  ],

  outcome: [
    [
      "applied with an object that is none",
      () => heard(() => outcome.applied({ ok: true }, { object: any({}) })),
      "succeeded",
      /applied/,
    ],
    [
      "applied of what cannot be stored",
      () => heard(() => outcome.applied({ n: 1n })),
      "succeeded",
      /cannot be written as JSON|bigint/,
    ],
    ["accepted with a reference that is none", () => heard(() => outcome.accepted(any(7))), "accepted", /accepted/],
    [
      "notApplied of nothing",
      () =>
        heard(() => {
          throw outcome.notApplied(any(undefined))
        }),
      "unknown",
      /threw/,
    ],
    [
      "rejected of nothing",
      () =>
        heard(() => {
          throw outcome.rejected(any(undefined))
        }),
      "unknown",
      /threw/,
    ],
    [
      "rejected without a code",
      () =>
        heard(() => {
          throw outcome.rejected(any({}))
        }),
      "failed",
      /./,
    ],
    [
      "a word that only looks like one",
      () => heard(() => ({ kind: "accepted", reference: "x" })),
      "succeeded",
      /applied/,
    ],
  ],

  id: [
    ["nothing", () => id(any(undefined)), "TypedValueError", /value is missing/],
    ["an empty text", () => id(" "), "TypedValueError", /empty/],
    ["what a template writes for nothing", () => id("undefined"), "TypedValueError", /absent value/],
    ["a fraction", () => id(1.5), "TypedValueError", /integer/],
    ["a number that is not exact", () => id(2 ** 53), "TypedValueError", /exactly/],
    ["an object", () => id(any({})), "TypedValueError", /string or an integer/],
    ["one that is too long", () => id("x".repeat(513)), "TypedValueError", /longer than 512/],
  ],
  text: [
    ["nothing", () => text(any(null)), "TypedValueError", /missing/],
    ["a number", () => text(any(7)), "TypedValueError", /expects a string/],
    ["half a character", () => text("\ud800"), "TypedValueError", /text\(\)/],
  ],
  minor: [
    ["no currency", () => minor(1, any(undefined)), "TypedValueError", /currency/],
    ["a currency that is none", () => minor(1, "dollars"), "TypedValueError", /currency|dollars/],
    ["a fraction", () => minor(1.5, "usd"), "TypedValueError", /minor/],
  ],
  decimal: [
    ["too many decimals", () => decimal("1.001", "usd"), "TypedValueError", /decimal/],
    ["no amount", () => decimal(any(undefined), "usd"), "TypedValueError", /missing/],
    ["no number", () => decimal("1,00", "usd"), "TypedValueError", /decimal/],
  ],
  instant: [
    ["no zone", () => instant("2026-01-01T00:00:00"), "TypedValueError", /instant/],
    ["no date", () => instant(new Date(Number.NaN)), "TypedValueError", /instant/],
    ["a number", () => instant(any(7)), "TypedValueError", /instant/],
  ],
  InvokeError: [
    [
      "a code that is about an operation, without its result",
      () => new InvokeError("unsettled"),
      "TypeError",
      /needs the result/,
    ],
  ],
}

describe("every export of @invokejs/invoke", () => {
  test("has rows here, and every row has an export", () => {
    expect(Object.keys(ROWS).toSorted()).toEqual(Object.keys(api).toSorted())
    for (const [name, rows] of Object.entries(ROWS)) expect(rows.length, name).toBeGreaterThan(0)
  })

  for (const [name, rows] of Object.entries(ROWS)) {
    for (const [what, act, code, message] of rows) {
      test(`${name}: ${what} is ${code}`, async () => {
        const answer = await answerOf(act)
        expect(`${answer.code}: ${answer.message}`).toMatch(new RegExp(`^${code}: `))
        expect(answer.message).toMatch(message)
        // What crosses the wire says what happened and what to do, in one line, with its code.
        if (isErrorCode(answer.code)) expect(answer.message).toMatch(new RegExp(`\\. .+ \\(${code}\\)$`))
      })
    }
  }
})

async function answerOf(act: () => unknown): Promise<Answer> {
  try {
    const answer = (await act()) as Partial<Answer> | undefined
    if (typeof answer?.code === "string" && typeof answer.message === "string") return answer as Answer
    return { code: "accepted silently", message: JSON.stringify(answer) ?? "undefined" }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { code: InvokeError.is(error) ? error.code : error.name, message: error.message }
  }
}

function absentOf(reach: unknown): unknown {
  try {
    return absent(any(reach))
  } catch (error) {
    return String(error)
  }
}

async function opened() {
  const { open } = world()
  return open([])
}
