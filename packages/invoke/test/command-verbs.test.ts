// Hunts for a verb that does something else than it says, does it twice, leaves no name, or is taken in the wrong state.
import { Invoke } from "@invokejs/invoke"
import { VERB_NAMES, type AuditEvent, type Result } from "@invokejs/protocol"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Stage, TOOLS } from "./command-stage.ts"

interface Shown {
  readonly operation: { readonly state: string; readonly version: number; readonly attempts: readonly unknown[] }
  readonly timeline: readonly AuditEvent[]
  readonly next: { readonly waiting_for_tool: boolean; readonly verbs: readonly { readonly verb: string }[] }
}

const stage = new Stage()
const ids: Record<string, string> = {}

beforeAll(async () => {
  const made = async (name: string, tool: string, params: object, more: readonly string[] = ["--wait", "0"]) => {
    ids[name] = (await stage.call(tool, params, more)).operation_id
  }
  await made("succeeded", "test.mail", { id: "succeeded" }, [])
  await made("needs_review", "test.mail", { id: "needs_review", how: "lost_after" }, [])
  await made("ready", "test.pay", { id: "ready", how: "busy" })
  await made("holder", "test.charge", { id: "holder", customer: "c", how: "lost" }, ["--key", "holder"])
  await made("held", "test.charge", { id: "held", customer: "c" }, ["--key", "held", "--wait", "0"])
})

afterAll(() => stage.close())

function show(id: string): Promise<Shown> {
  return stage.json<Shown>(["ops", "show", id]).then(({ value }) => value)
}

function count(id: string): number {
  return stage.effects().filter((effect) => effect === id).length
}

async function verb(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return stage.json<Result>(["ops", ...words, "--as", "ann"], { env })
}

test("resolve settles by a person's word with evidence, the version seen and a name, once [HU-3]", async () => {
  const { operation_id: id } = await stage.call("test.mail", { id: "resolve", how: "lost_after" })
  const before = await show(id)
  const words = ["resolve", id, "--to", "succeeded", "--reason", "the customer has it", "--evidence", "ticket=SUP-1182"]
  const version = String(before.operation.version)

  const stale = await stage.run(["ops", ...words, "--expected-version", String(before.operation.version - 1)])
  expect([stale.code, stale.stdout]).toEqual([4, ""])
  expect(stale.stderr).toContain("(version_conflict)")

  const { code, value } = await verb([...words, "--object-id", "mail-1", "--expected-version", version])
  expect([code, value.exit, value.ok]).toEqual([0, 0, true])
  const event = (await show(id)).timeline.find(({ type }) => type === "resolved")
  expect(event).toMatchObject({
    actor: "operator:ann",
    data: { to: "succeeded", reason: "the customer has it", evidence: { ticket: "SUP-1182" } },
  })

  const again = await stage.run(["ops", ...words])
  expect([again.code, again.stdout]).toEqual([4, ""])
  expect((await show(id)).timeline.filter(({ type }) => type === "resolved")).toHaveLength(1)
  expect((await stage.call("test.mail", { id: "resolve", how: "lost_after" })).ok).toBe(true)
  expect(count("resolve")).toBe(1)
})

test("resolve refuses an outcome without evidence, and takes closed_unknown without it [HU-3]", async () => {
  const { operation_id: id } = await stage.call("test.mail", { id: "closed", how: "lost" })
  const bare = await stage.run(["ops", "resolve", id, "--to", "not_applied", "--reason", "r"])
  expect(bare.stderr).toBe(
    `invoke: operation ${id} is needs_review: evidence is needed. Read the operation: its state lists the verbs it hears. (illegal_transition)\n`,
  )
  expect(bare.code).toBe(4)
  const { code, value } = await verb(["resolve", id, "--to", "closed_unknown", "--reason", "nobody will know"])
  expect([code, value.status]).toEqual([3, "closed_unknown"])
})

test("amend adds a fact to what was closed without an answer", async () => {
  const { operation_id: id } = await stage.call("test.mail", { id: "amend", how: "lost" })
  await verb(["resolve", id, "--to", "closed_unknown", "--reason", "nobody knows"])
  const { code, value } = await verb(["amend", id, "--to", "succeeded", "--reason", "it was in another folder"])
  expect([code, value.ok]).toEqual([0, true])
  const types = (await show(id)).timeline.map(({ type }) => type)
  expect(types).toEqual(expect.arrayContaining(["resolved", "amended"]))
})

test("cancel stops what was never sent, and its exit code says that nothing was", async () => {
  const { operation_id: id } = await stage.call("test.charge", { id: "cancel", customer: "c" }, [
    ...["--key", "cancel", "--wait", "0"],
  ])
  const { code, value } = await verb(["cancel", id, "--reason", "not wanted"])
  expect([code, value.status, value.reason?.text]).toEqual([4, "cancelled", "not wanted"])
  expect(count("cancel")).toBe(0)
})

test("allow lets a held operation go on, once", async () => {
  const own = new Stage()
  await own.call("test.charge", { id: "first", customer: "a", how: "lost" }, ["--key", "1"])
  const held = await own.call("test.charge", { id: "allowed", customer: "a" }, ["--key", "2", "--wait", "0"])
  const words = ["ops", "allow", held.operation_id, "--reason", "two orders", "--tools", TOOLS, "--wait", "50s"]
  const { code, value } = await own.json<Result>(words)
  expect([code, value.ok]).toEqual([0, true])
  const again = await own.run(words)
  expect(again.code).toBe(4)
  expect(own.effects()).toEqual(["allowed"])
  own.close()
})

test("retry names the last attempt, is carried on by the process that has the tool, and has one winner", async () => {
  const { operation_id: id } = await stage.call("test.mail", { id: "retry", how: "busy" })
  const wrong = await stage.run(["ops", "retry", id, "--after-attempt", "0"])
  expect([wrong.code, wrong.stderr.includes("(retry_refused)")]).toEqual([4, true])
  const words = ["retry", id, "--after-attempt", "1", "--tools", TOOLS, "--wait", "50s"]
  const { code, value } = await verb(words, { HOW: "done" })
  expect([code, value.ok, value.attempt]).toEqual([0, true, 2])
  const second = await stage.run(["ops", ...words], { env: { HOW: "done" } })
  expect(second.code).toBe(4)
  expect(count("retry")).toBe(1)
})

test("retry without the tool says that no live worker has it", async () => {
  const { operation_id: id } = await stage.call("test.mail", { id: "nobody", how: "busy" })
  const ran = await stage.run(["ops", "retry", id, "--after-attempt", "1"])
  expect(ran.code).toBe(3)
  expect(ran.stdout.replaceAll(/\s+/g, " ")).toContain(
    "waiting_for_tool: no live worker of this journal has test.mail. Start a process that has it, or pass --tools FILE.js.",
  )
  expect((await show(id)).next.waiting_for_tool).toBe(true)
})

test("supersede replaces what had no effect, by the version seen", async () => {
  const { operation_id: id } = await stage.call("test.mail", { id: "supersede", how: "busy" })
  const { version } = (await show(id)).operation
  const words = ["supersede", id, "--params", '{"id":"supersede","said":"changed"}', "--tools", TOOLS]
  const stale = await stage.run(["ops", ...words, "--expected-version", String(version - 1)])
  expect([stale.code, stale.stderr.includes("(version_conflict)")]).toEqual([4, true])
  const { code, value } = await verb([...words, "--expected-version", String(version)])
  expect([code, value.status, value.output]).toEqual([0, "succeeded", { id: "supersede", said: "changed" }])
  const other = await stage.run([
    ...["ops", "supersede", id, "--params", '{"id":"other"}', "--tools", TOOLS, "--expected-version", "1"],
  ])
  expect(other.code).toBe(4)
  expect([count("supersede"), count("other")]).toEqual([1, 0])
})

test("repeat does the action once more, and a repeat of the repeat is the same one", async () => {
  const { operation_id: id } = await stage.call("test.mail", { id: "repeat" })
  const words = ["repeat", id, "--reason", "the customer lost it", "--tools", TOOLS]
  const first = await verb(words)
  const second = await verb(words)
  expect([first.code, second.code]).toEqual([0, 0])
  expect(second.value.operation_id).toBe(first.value.operation_id)
  expect(count("repeat")).toBe(2)
})

test("reconcile without the tool makes the look due; with it this process looks and settles [RC-1]", async () => {
  stage.providerDown(true)
  const { operation_id: id } = await stage.call("test.pay", { id: "reconcile", how: "lost_after" }, ["--wait", "0"])
  const without = await stage.json<{ waiting_for_tool: boolean; workers: string[] }>(["ops", "reconcile", id])
  expect(without.value).toMatchObject({ waiting_for_tool: true, workers: [] })
  expect(without.code).toBe(3)
  const down = await verb(["reconcile", id, "--tools", TOOLS, "--wait", "50s"])
  expect([down.code, down.value.settled]).toEqual([3, false])
  stage.providerDown(false)
  const up = await verb(["reconcile", id, "--tools", TOOLS, "--wait", "50s"])
  expect([up.code, up.value.ok]).toEqual([0, true])
  expect(count("reconcile")).toBe(1)
})

test("a module without the operation's tool is refused before anything is done", async () => {
  const other = stage.file(
    "other.mjs",
    `import { defineTool } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)}
     const validate = (value) => ({ value })
     export default [defineTool({ name: "other.tool", safety: "irreversible", applied: "returned", execute: () => 1,
       input: { "~standard": { version: 1, vendor: "t", validate } } })]`,
  )
  const { code, stderr } = await stage.run(["ops", "reconcile", ids["needs_review"] ?? "", "--tools", other])
  expect(stderr).toBe(
    `invoke: ${other} has no tool test.mail. Pass the module that defines it. This one has: other.tool. (unknown_tool)\n`,
  )
  expect(code).toBe(2)
})

describe("in the wrong state", () => {
  const rows = [
    ["allow", "succeeded", "--reason r", "only a held operation is allowed"],
    ["cancel", "succeeded", "", ""],
    ["cancel", "needs_review", "", ""],
    ["resolve", "succeeded", "--to succeeded --reason r --evidence a=b", "is not resolved by a person"],
    ["resolve", "held", "--to succeeded --reason r --evidence a=b", "is not resolved by a person"],
    ["retry", "succeeded", "--after-attempt 1", "only not_applied is retried"],
    ["supersede", "succeeded", `--params {"id":"succeeded"} --expected-version V --tools ${TOOLS}`, ""],
    ["supersede", "needs_review", `--params {"id":"needs_review"} --expected-version V --tools ${TOOLS}`, ""],
    ["repeat", "ready", `--reason r --tools ${TOOLS}`, "is ready: it is repeated once"],
    ["repeat", "held", `--reason r --tools ${TOOLS}`, "is held: it is repeated once"],
    ["reconcile", "succeeded", "", ""],
    ["reconcile", "held", "", ""],
    ["amend", "needs_review", "--to succeeded --reason r", "only a settled operation is amended"],
    ["amend", "succeeded", "--to succeeded --reason r", ""],
  ] as const

  test.each(rows)(
    "%s of an operation that is %s is refused with 4 and changes nothing",
    async (name, state, args, says) => {
      const id = ids[state] ?? ""
      const before = await show(id)
      const words = args
        .replace(" V ", ` ${before.operation.version} `)
        .split(" ")
        .filter((word) => word !== "")
      const { code, stdout, stderr } = await stage.run(["ops", name, id, ...words])
      expect(stderr).toContain("invoke: ")
      expect(stderr).toContain(says)
      expect([code, stdout]).toEqual([4, ""])
      const after = await show(id)
      expect(after.operation).toEqual(before.operation)
      expect(after.timeline).toHaveLength(before.timeline.length)
    },
  )

  test("every verb of the command is in a row", () => {
    expect(new Set(rows.map(([name]) => name))).toEqual(new Set(offered(VERB_NAMES)))
  })
})

/** Verbs of the table that no operator has yet. */
const UNBUILT = ["approve", "deny", "compensate"]
/** Verbs about more than one operation: they are commands of their own. */
const ELSEWHERE = ["purge", "liftQuarantine", "workersGone"]

function offered(verbs: readonly string[]): readonly string[] {
  return verbs.filter((name) => !UNBUILT.includes(name) && !ELSEWHERE.includes(name))
}

test("the verbs under ops are those of the one table that an operator has", async () => {
  const { value } = await stage.json<{ commands: readonly { command: string }[] }>(["help", "ops"])
  const commands = value.commands.map(({ command }) => command.replace("invoke ops ", ""))
  expect(commands.toSorted()).toEqual(["ls", "show", "watch", ...offered(VERB_NAMES)].toSorted())
  const invoke = await Invoke.open({ journal: stage.journal, log: "silent", reconcile: false })
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(invoke.operator({ name: "ann" })))
  await invoke.close()
  const built = VERB_NAMES.filter((name) => methods.includes(name))
  expect(built.toSorted()).toEqual([...offered(VERB_NAMES), ...ELSEWHERE].toSorted())
})
