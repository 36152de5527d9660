// Hunts for a call whose exit code, output and effect disagree, and for output that a program or a terminal cannot trust.
import { InvokeError, parseResult, type Result } from "@invokejs/protocol"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { Stage, TOOLS } from "./command-stage.ts"

const stage = new Stage()
beforeAll(async () => {
  await stage.call("test.mail", { id: "first" })
})
afterAll(() => stage.close())

function args(tool: string, params: object, more: readonly string[] = []): readonly string[] {
  return ["call", tool, "--tools", TOOLS, "--params", JSON.stringify(params), ...more]
}

interface Row {
  readonly tool: string
  readonly params: { readonly id: string; readonly [name: string]: string }
  readonly more?: readonly string[]
  readonly status: string
  readonly exit: number
  readonly effects: number
}

const ROWS: readonly Row[] = [
  { tool: "test.mail", params: { id: "done" }, status: "succeeded", exit: 0, effects: 1 },
  { tool: "test.mail", params: { id: "first" }, status: "replayed", exit: 0, effects: 1 },
  {
    tool: "test.pay",
    params: { id: "lost", how: "lost_after" },
    more: ["--wait", "50s"],
    status: "reconciled",
    exit: 0,
    effects: 1,
  },
  { tool: "test.mail", params: { id: "asked", how: "lost_after" }, status: "needs_review", exit: 3, effects: 1 },
  {
    tool: "test.mail",
    params: { id: "later", how: "accepted" },
    more: ["--wait", "1s"],
    status: "accepted",
    exit: 3,
    effects: 1,
  },
  { tool: "test.mail", params: { id: "busy", how: "busy" }, status: "not_applied", exit: 5, effects: 0 },
  { tool: "test.mail", params: { id: "no", how: "rejected" }, status: "failed", exit: 5, effects: 0 },
  {
    tool: "test.pay",
    params: { id: "wrong", how: "lost_wrong" },
    more: ["--wait", "50s"],
    status: "needs_review",
    exit: 6,
    effects: 1,
  },
]

test.each(ROWS)("$tool $params.id answers $status and exits with $exit", async (row) => {
  const { code, value } = await stage.json<Result>(args(row.tool, row.params, row.more))
  expect(parseResult(value)).toEqual(value)
  expect(value.status).toBe(row.status)
  expect(value.exit).toBe(row.exit)
  expect(code).toBe(row.exit)
  expect(stage.effects().filter((id) => id === row.params.id)).toHaveLength(row.effects)
})

test("a near-duplicate is held, then refused once the first is settled, and sends nothing", async () => {
  const own = new Stage()
  const first = await own.call("test.charge", { id: "a", customer: "c1", how: "lost" }, ["--key", "k1"])
  const held = await own.json<Result>(args("test.charge", { id: "b", customer: "c1" }, ["--key", "k2", "--wait", "0"]))
  expect([held.value.status, held.code]).toEqual(["held", 3])
  const resolved = await own.run(["ops", "resolve", first.operation_id, "--to", "succeeded", "--reason", "r"])
  expect(resolved.stderr).toContain("evidence is needed")
  await own.run([
    ...["ops", "resolve", first.operation_id, "--to", "succeeded", "--reason", "seen", "--evidence", "ticket=1"],
  ])
  const refused = await own.json<Result>(args("test.charge", { id: "c", customer: "c1" }, ["--key", "k3"]))
  expect([refused.value.status, refused.code]).toEqual(["refused", 4])
  expect(own.effects()).toEqual([])
  own.close()
})

test("a key of another action is refused with 4, and sends nothing", async () => {
  await stage.run(args("test.charge", { id: "k", customer: "k" }, ["--key", "same"]))
  const { code, stdout, stderr } = await stage.run(args("test.charge", { id: "k2", customer: "k2" }, ["--key", "same"]))
  expect(stderr).toContain("(idempotency_key_reused)")
  expect([code, stdout]).toEqual([4, ""])
  expect(stage.effects()).not.toContain("k2")
})

test("parameters are read from a file and from standard input", async () => {
  stage.file("params.json", JSON.stringify({ id: "file" }))
  const file = await stage.run(["call", "test.mail", "--tools", TOOLS, "--params", "@params.json"])
  const input = await stage.run(["call", "test.mail", "--tools", TOOLS, "--params", "-"], { input: '{"id":"input"}\n' })
  expect([file.code, input.code]).toEqual([0, 0])
  expect(stage.effects()).toEqual(expect.arrayContaining(["file", "input"]))
})

test("agent and run are recorded", async () => {
  const result = await stage.call("test.charge", { id: "run", customer: "r" }, [
    "--run-id",
    "run-7",
    "--agent",
    "billing",
  ])
  const { value } = await stage.json<{ operation: { run_id: string; agent_id: string; key_kind: string } }>([
    ...["ops", "show", result.operation_id],
  ])
  expect(value.operation).toMatchObject({ run_id: "run-7", agent_id: "billing", key_kind: "run" })
})

test("a mistyped path makes no journal, so nothing is done a second time in another one", async () => {
  const path = join(stage.folder, "typo.db")
  const { code } = await stage.run(args("test.mail", { id: "typo" }), { journal: path })
  expect(code).toBe(2)
  expect(existsSync(path)).toBe(false)
  expect(stage.effects()).not.toContain("typo")
  const made = await stage.run(args("test.mail", { id: "typo" }, ["--create"]), { journal: path })
  expect(made.code).toBe(0)
})

test("what a tool's module says through console goes to standard error", async () => {
  const { stdout, stderr } = await stage.run([...args("test.mail", { id: "talks" }), "--json"])
  expect(stderr).toContain("a tool's module talks")
  expect(parseResult(JSON.parse(stdout) as unknown).status).toBe("succeeded")
})

test("standard error holds what Node warns of, but not that its SQLite is experimental", async () => {
  const file = stage.file(
    "warns.mjs",
    `process.emitWarning("SQLite is an experimental feature", "ExperimentalWarning")
     process.emitWarning("something is old", "DeprecationWarning")
     export { tools } from ${JSON.stringify(new URL("./command-tools.mjs", import.meta.url).href)}`,
  )
  const { stderr } = await stage.run(["call", "test.mail", "--tools", file, "--params", '{"id":"warned"}'])
  expect(stderr).toContain("DeprecationWarning: something is old")
  expect(stderr).not.toContain("SQLite")
})

test("a reader of standard output that has enough is no fault", async () => {
  const { stderr, code } = await stage.run(["help", "--json"], { closeStdout: true })
  expect([stderr, code]).toEqual(["", 0])
})

test("what others wrote cannot steer the terminal", async () => {
  const said = "\u001b[2Jred\u009b31m\u202etxt"
  const { stdout } = await stage.run(args("test.mail", { id: "steer", said }))
  expect(stdout).toContain("red")
  // oxlint-disable-next-line no-control-regex -- these are the characters that must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
  const json = await stage.run([...args("test.mail", { id: "steer", said }), "--json"])
  expect(json.stdout).not.toContain("\u009b")
  expect((JSON.parse(json.stdout) as { output: { said: string } }).output.said).toBe(said)
})

test("an interrupt ends the waiting and not the operation [CS-6]", async () => {
  const { code, stdout } = await stage.run([...args("test.mail", { id: "slow", how: "slow" }), "--json"], {
    interrupt: () => stage.effects().includes("slow"),
  })
  const told = parseResult(JSON.parse(stdout) as unknown)
  expect([told.status, code]).toEqual(["in_progress", 3])
  const after = await stage.call("test.mail", { id: "slow", how: "slow" })
  expect(after.status).toBe("replayed")
  expect(stage.effects().filter((id) => id === "slow")).toHaveLength(1)
})

test("a call that waits for nothing answers once its intent is durable", async () => {
  const result = await stage.call("test.pay", { id: "now", how: "busy" }, ["--wait", "0"])
  expect(result).toMatchObject({ settled: false, exit: 3 })
})

test("what the engine refuses is told in its own words", async () => {
  const { stderr, code } = await stage.run([...args("test.mail", { no: "id" }), "--json"])
  const problem = JSON.parse(stderr) as { code: string; issues: unknown[]; agent_text: string }
  expect(problem).toMatchObject({
    code: "invalid_params",
    agent_text: new InvokeError("invalid_params", {
      detail: { issues: problem.issues as never },
    }).agent_text,
  })
  expect(code).toBe(2)
})
