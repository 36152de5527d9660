// Hunts for a list that hides an operation, a timeline that cannot be read, and reading that changes what is read.
import { STATE_NAMES, parseResult, type AuditEvent, type Result } from "@invokejs/protocol"
import { afterAll, beforeAll, expect, test } from "vitest"
import { Stage, TOOLS } from "./command-stage.ts"

interface Listed {
  readonly operations: readonly {
    readonly operation_id: string
    readonly state: string
    readonly tool: string
    readonly waiting_for_tool: boolean
  }[]
  readonly next_cursor: string | null
}

const stage = new Stage()
const made: { [name: string]: Result } = {}

beforeAll(async () => {
  const call = async (name: string, tool: string, params: object, more: readonly string[] = []) => {
    made[name] = await stage.call(tool, { id: name, ...params }, more)
  }
  await call("done", "test.mail", {})
  await call("asked", "test.mail", { how: "lost_after" })
  await call("found", "test.pay", { how: "lost_after" }, ["--wait", "50s"])
  await call("busy", "test.pay", { how: "busy" }, ["--wait", "0", "--agent", "billing"])
  await call("keyed", "test.charge", { customer: "acme" }, ["--key", "invoice:7"])
  // The agent asks again: the repeat is blocked and counted.
  await stage.call("test.pay", { id: "found", how: "lost_after" })
})

afterAll(() => stage.close())

function idOf(name: string): string {
  return made[name]?.operation_id ?? ""
}

async function list(...args: readonly string[]): Promise<string[]> {
  const { value, code } = await stage.json<Listed>(["ops", "ls", ...args])
  expect(code).toBe(0)
  const names = Object.keys(made)
  return value.operations.map(({ operation_id }) => names.find((name) => idOf(name) === operation_id) ?? operation_id)
}

test("ls lists all operations, newest first, and each condition leaves out what does not meet it", async () => {
  expect(await list()).toEqual(["keyed", "busy", "found", "asked", "done"])
  expect(await list("--open")).toEqual(["busy", "asked"])
  expect(await list("--state", "needs_review,ready")).toEqual(["busy", "asked"])
  expect(await list("--state", "needs_review", "--state", "succeeded")).toEqual(["keyed", "found", "asked", "done"])
  expect(await list("--tool", "test.pay")).toEqual(["busy", "found"])
  expect(await list("--agent", "billing")).toEqual(["busy"])
  expect(await list("--key", "invoice:7")).toEqual(["keyed"])
  expect(await list("--where", "mail:asked")).toEqual(["asked"])
  expect(await list("--where", "customer:acme")).toEqual(["keyed"])
  expect(await list("--older-than", "1d")).toEqual([])
  expect(await list("--older-than", "1ms", "--tool", "test.mail")).toEqual(["asked", "done"])
  expect(await list("--contradicted")).toEqual([])
})

test("ls goes on where the page before ended, and loses nothing", async () => {
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const more: readonly string[] = cursor === null ? [] : ["--cursor", cursor]
    const { value }: { value: Listed } = await stage.json<Listed>(["ops", "ls", "--limit", "2", ...more])
    expect(value.operations.length).toBeLessThanOrEqual(2)
    seen.push(...value.operations.map(({ operation_id }) => operation_id))
    cursor = value.next_cursor
  } while (cursor !== null)
  expect(seen).toEqual(["keyed", "busy", "found", "asked", "done"].map(idOf))
})

test("ls says what waits for a tool, and does not say it of what waits for a person", async () => {
  const { value } = await stage.json<Listed>(["ops", "--open"])
  const waiting = value.operations.map((one) => [one.operation_id, one.waiting_for_tool])
  expect(waiting).toEqual([
    [idOf("busy"), true],
    [idOf("asked"), false],
  ])
  const { stdout } = await stage.run(["ops", "--open"])
  expect(stdout).toContain("waiting_for_tool")
})

test("show prints the article's timeline of one operation as facts, and no reasoning [AU-1]", async () => {
  const { value } = await stage.json<{ timeline: readonly AuditEvent[] }>(["ops", "show", idOf("found")])
  const types = value.timeline.map(({ type }) => type)
  const article = [
    ...["requested", "submitted", "attempt_unknown", "unknown", "reconciliation_started"],
    ...["provider_result", "state_updated", "duplicate_retry_blocked"],
  ]
  expect(types.filter((type) => article.includes(type))).toEqual(article)
  expect(value.timeline.map(({ seq }) => seq)).toEqual(value.timeline.map((_, index) => index + 1))
  const { stdout, code } = await stage.run(["ops", "show", idOf("found")])
  for (const type of article) expect(stdout).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3} {4}${type}\\b`, "m"))
  expect(code).toBe(0)
})

test("show offers the verbs that are legal now, and none that is not", async () => {
  const verbsOf = async (name: string): Promise<readonly string[]> => {
    const { value } = await stage.json<{ next: { verbs: readonly { verb: string; command: string }[] } }>([
      ...["ops", "show", idOf(name)],
    ])
    for (const { verb, command } of value.next.verbs) expect(command).toContain(`invoke ops ${verb} ${idOf(name)}`)
    return value.next.verbs.map(({ verb }) => verb)
  }
  expect(await verbsOf("busy")).toEqual(["cancel"])
  expect(await verbsOf("asked")).toEqual(["resolve", "repeat"])
  expect(await verbsOf("done")).toEqual(["repeat", "amend"])
})

test("show keeps parameters and output to itself unless they are asked for", async () => {
  const closed = await stage.json<Record<string, unknown>>(["ops", "show", idOf("done")])
  expect(closed.value).not.toHaveProperty("params")
  expect(JSON.stringify(closed.value)).not.toContain('"said"')
  const open = await stage.json<Record<string, unknown>>(["ops", "show", idOf("done"), "--payload"])
  expect(open.value).toMatchObject({ params: { id: "done" }, output: { id: "done", said: "" } })
})

test("reading changes nothing: the first telling stays with the caller", async () => {
  const own = new Stage()
  own.providerDown(true)
  const { operation_id: id } = await own.call("test.pay", { id: "owed", how: "lost_after" }, ["--wait", "0"])
  own.providerDown(false)
  await own.json(["ops", "reconcile", id, "--tools", TOOLS, "--wait", "50s"])
  const before = await own.run(["ops", "show", id, "--json"])
  for (const args of [
    ["ops", "ls"],
    ["ops", "show", id],
    ["audit", "verify"],
    ["doctor"],
    ["workers"],
    ["incidents"],
  ]) {
    await own.run(args)
  }
  await own.run(["ops", "watch", id])
  const after = await own.run(["ops", "show", id, "--json"])
  const stored = (text: string): unknown => (JSON.parse(text) as { operation: unknown }).operation
  expect(stored(after.stdout)).toEqual(stored(before.stdout))
  own.close()
})

test("watch follows one operation from its beginning until it is settled, and ends with its Result", async () => {
  const own = new Stage()
  const { operation_id: id } = await own.call("test.mail", { id: "watched", how: "lost_after" })
  const watching = own.run(["ops", "watch", id, "--json"])
  await own.run(["ops", "resolve", id, "--to", "succeeded", "--reason", "seen", "--evidence", "a=b"])
  const { code, stdout } = await watching
  const lines = stdout.trimEnd().split("\n")
  const events = lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEvent)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["requested", "review_needed", "resolved"]))
  expect(parseResult(JSON.parse(lines.at(-1) ?? "") as unknown)).toMatchObject({ operation_id: id, ok: true })
  expect(code).toBe(0)
  own.close()
})

test("watch ends when its time is over, with the code of what is not settled", async () => {
  const { code, stdout } = await stage.run(["ops", "watch", idOf("asked"), "--wait", "200ms"])
  expect(stdout).toMatch(/^status +needs_review$/m)
  expect(code).toBe(3)
})

test("watch without an id prints what comes from now on, of every operation, until interrupted", async () => {
  const own = new Stage()
  const before = await own.call("test.mail", { id: "before" })
  const called: Promise<Result>[] = []
  let busy = false
  const { code, stdout } = await own.run(["ops", "watch", "--json"], {
    // It is not known when it begins to follow, so calls are made until one is seen.
    interrupt: (printed) => {
      if (printed.includes('"acknowledged"')) return true
      if (busy) return false
      busy = true
      called.push(own.call("test.mail", { id: `during ${called.length}` }).finally(() => (busy = false)))
      return false
    },
  })
  const during = await Promise.all(called)
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEvent)
  const seen = new Set(events.map(({ operation_id }) => operation_id))
  expect(seen).not.toContain(before.operation_id)
  expect(during.map(({ operation_id }) => operation_id)).toEqual(expect.arrayContaining([...seen]))
  expect(code).toBe(0)
  own.close()
})

test("text is 80 columns wide, but for ids, paths and commands; and plain when piped", async () => {
  const texts = await Promise.all(
    [
      [],
      ["help", "ops", "resolve"],
      ["ops"],
      ["ops", "show", idOf("asked")],
      ["ops", "show", idOf("found")],
      ["doctor"],
    ].map((args) => stage.run(args, { env: { FORCE_COLOR: "1" } })),
  )
  const whole = /^\s+invoke |\/|^\s*\S+\s+\S+$/
  for (const { stdout } of texts) {
    expect(stdout).not.toContain("\u001b")
    // A key is an id, too.
    const wide = stdout.split("\n").filter((line) => line.length > 80 && !whole.test(line))
    expect(wide).toEqual([])
  }
})

test("the states that ls takes are those of the table", async () => {
  const { value } = await stage.json<{
    commands: readonly { options: readonly { option: string; values: unknown }[] }[]
  }>([...["help", "ops", "ls"]])
  expect(value.commands[0]?.options.find(({ option }) => option === "--state")?.values).toEqual(STATE_NAMES)
})
