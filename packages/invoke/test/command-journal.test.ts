// Hunts for a journal whose damage is called whole, whose copy dispatches, whose purge forgets a key, or whose doctor is silent.
import { loadDriver, type Database } from "@invokejs/journal-sqlite/internal"
import type { Incident, Result } from "@invokejs/protocol"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { BIN, Stage, TOOLS } from "./command-stage.ts"

interface Verified {
  readonly ok: boolean
  readonly operations: number
  readonly events: number
  readonly faults: readonly {
    readonly operation_id: string | null
    readonly seq: number | null
    readonly fault: string
  }[]
}

/** Does to a journal's file what its triggers forbid. */
async function tamper(path: string, change: (db: Database) => void): Promise<void> {
  const db = (await loadDriver())?.open(path, { readOnly: false })
  if (!db) throw new Error("this Node has no SQLite")
  for (const name of ["events_are_not_edited", "events_are_not_deleted", "operations_are_not_deleted"]) {
    db.exec(`DROP TRIGGER ${name}`)
  }
  change(db)
  db.close()
}

describe("audit verify [AU-2]", () => {
  const stage = new Stage()
  const ids: string[] = []
  const copy = join(stage.folder, "copy.db")

  beforeAll(async () => {
    for (const id of ["one", "two", "three"]) ids.push((await stage.call("test.mail", { id })).operation_id)
    await stage.run(["backup", copy])
  })
  afterAll(() => stage.close())

  const verify = (journal: string, ...more: readonly string[]) =>
    stage.json<Verified>(["audit", "verify", ...more], { journal })

  test("a journal that nobody touched holds, also while it is in use", async () => {
    const quiet = await verify(stage.journal)
    expect(quiet.code).toBe(0)
    expect(quiet.value).toMatchObject({ ok: true, operations: 3, faults: [] })
    const busy = Promise.all([1, 2, 3, 4].map((n) => stage.call("test.mail", { id: `busy ${n}` })))
    const verdicts = await Promise.all([verify(stage.journal), verify(stage.journal), verify(stage.journal)])
    for (const { value } of verdicts) expect(value.faults).toEqual([])
    await busy
  })

  const TWO = "(SELECT operation_id FROM operations ORDER BY operation_id LIMIT 1 OFFSET 1)"
  const damages = [
    [
      "changed data",
      `UPDATE events SET data = '{"paid":false}' WHERE operation_id = ${TWO} AND seq = 2`,
      2,
      "data_edited",
    ],
    [
      "a changed actor",
      `UPDATE events SET actor = 'operator:eve' WHERE operation_id = ${TWO} AND seq = 2`,
      2,
      "edited",
    ],
    ["a changed time", `UPDATE events SET at = at + 1 WHERE operation_id = ${TWO} AND seq = 3`, 3, "edited"],
    ["a dropped event", `DELETE FROM events WHERE operation_id = ${TWO} AND seq = 2`, 2, "missing"],
    ["a dropped end", `DELETE FROM events WHERE operation_id = ${TWO} AND seq = 4`, 4, "head_differs"],
    [
      "two events changed round",
      `UPDATE events SET seq = 100 WHERE operation_id = ${TWO} AND seq = 2;
       UPDATE events SET seq = 2 WHERE operation_id = ${TWO} AND seq = 3;
       UPDATE events SET seq = 3 WHERE operation_id = ${TWO} AND seq = 100`,
      2,
      "edited",
    ],
    [
      "an event that was added at the end",
      `INSERT INTO events (operation_id, tenant, seq, at, type, actor, data, data_digest, prev_hash, hash)
       SELECT operation_id, tenant, 5, at, type, actor, data, data_digest, hash, hash FROM events
       WHERE operation_id = ${TWO} AND seq = 4`,
      5,
      "head_differs",
    ],
  ] as const

  test.each(damages)("%s shows with its place, and exits with 1", async (name, sql, seq, fault) => {
    const path = join(stage.folder, `${name}.db`)
    copyFileSync(copy, path)
    await tamper(path, (db) => db.exec(sql))
    const { code, value } = await verify(path)
    expect(value.faults).toContainEqual({ operation_id: ids[1], seq, fault })
    expect(value.faults.every(({ operation_id }) => operation_id === ids[1])).toBe(true)
    expect(code).toBe(1)
    const text = await stage.run(["audit", "verify"], { journal: path })
    expect(text.stdout).toContain(`operation ${ids[1] ?? ""}, event ${seq}`)
    const other = await verify(path, "--operation", ids[0] ?? "")
    expect(other.value).toMatchObject({ ok: true, operations: 1 })
  })

  test("an operation that was taken out with all its events shows", async () => {
    const path = join(stage.folder, "whole.db")
    copyFileSync(copy, path)
    await tamper(path, (db) => {
      db.exec(`DELETE FROM events WHERE operation_id = ${TWO}`)
      db.exec(`DELETE FROM operations WHERE operation_id = ${TWO}`)
    })
    const { code, value } = await verify(path)
    expect(value.faults).toEqual([{ operation_id: null, seq: null, fault: "events_missing" }])
    expect(code).toBe(1)
  })
})

test("a backup is a journal of its own in quarantine, dispatches nothing, and is lifted by a statement and a name", async () => {
  const stage = new Stage()
  const asked = await stage.call("test.mail", { id: "asked", how: "busy" })
  const target = join(stage.folder, "copy.db")
  const { value, code } = await stage.json<{ location: string; bytes: number }>(["backup", target])
  expect([code, value.location, value.bytes]).toEqual([0, target, statSync(target).size])
  expect((await stage.run(["backup", target])).code).toBe(2)

  const shown = await stage.json<{ quarantine: { reason: string } | null }>(["quarantine"], { journal: target })
  expect(shown.value.quarantine?.reason).toBe("backup")
  const told = await stage.run(["quarantine", "show"], { journal: target })
  expect(told.stdout).toContain("invoke quarantine lift --statement TEXT")
  expect((await stage.run(["doctor"], { journal: target })).code).toBe(1)

  const held = await stage.call("test.mail", { id: "new" }, ["--wait", "0"], { journal: target })
  expect(held.settled).toBe(false)
  expect(stage.effects()).toEqual([])

  const lifted = await stage.run(["quarantine", "lift", "--statement", "nothing was lost", "--as", "ann"], {
    journal: target,
  })
  expect(lifted.stdout).toContain("lifted by ann")
  const again = await stage.run(["quarantine", "lift", "--statement", "again"], { journal: target })
  expect(again.stderr).toContain("the journal is not in quarantine")
  expect(again.code).toBe(4)
  expect((await stage.json<Result>(["ops", "show", asked.operation_id], { journal: target })).code).toBe(0)
  stage.close()
})

test("purge counts first, then removes payloads; the key still replays, and the chain still holds [ID-9]", async () => {
  const stage = new Stage()
  await stage.call("test.mail", { id: "old", said: "secret" })
  const open = await stage.call("test.mail", { id: "open", how: "lost_after" })
  const young = await stage.json<object>(["purge", "--older-than", "1d"])
  expect(young.value).toMatchObject({ purged: 0, dry_run: false })

  const young_dry = await stage.json<object>(["purge", "--older-than", "1d", "--dry-run"])
  expect(young_dry.value).toMatchObject({ purged: 0, dry_run: true })
  const dry = await stage.json<object>(["purge", "--older-than", "1ms", "--dry-run"])
  expect(dry.value).toMatchObject({ purged: 1, kept: 0, dry_run: true })
  const again = await stage.json<object>(["purge", "--older-than", "1ms", "--dry-run"])
  expect(again.value).toMatchObject({ purged: 1 })
  const done = await stage.json<object>(["purge", "--older-than", "1ms"])
  expect(done.value).toMatchObject({ purged: 1, kept: 0, dry_run: false })

  const replay = await stage.call("test.mail", { id: "old", said: "secret" })
  expect(replay).toMatchObject({ status: "replayed", output: null, output_purged: true })
  expect(stage.effects()).toEqual(["old", "open"])
  const shown = await stage.run(["ops", "show", replay.operation_id, "--payload", "--json"])
  expect(shown.stdout).not.toContain("secret")
  expect((await stage.run(["ops", "show", open.operation_id, "--payload", "--json"])).stdout).toContain("lost_after")
  expect((await stage.json<Verified>(["audit", "verify"])).value).toMatchObject({ ok: true, operations: 2 })
  stage.close()
})

test("a worker whose process was killed is gone by its lock, and what it left is found, not done again [CS-5]", async () => {
  const stage = new Stage()
  const words = ["call", "test.pay", "--tools", TOOLS, "--params", '{"id":"killed","how":"slow"}', "--create"]
  const child = spawn(process.execPath, [BIN, ...words], {
    cwd: stage.folder,
    env: { LEDGER: stage.ledger, INVOKE_JOURNAL: stage.journal },
    stdio: "ignore",
  })
  const ended = once(child, "exit")
  while (stage.effects().length === 0) await new Promise((resolve) => setTimeout(resolve, 20))

  const alive = await stage.json<{ workers: { worker_id: string; state: string; tools: string[] }[] }>(["workers"])
  expect(alive.value.workers).toMatchObject([{ state: "live", tools: ["test.mail", "test.pay", "test.charge"] }])
  expect(JSON.stringify(alive.value)).not.toContain("token")
  child.kill("SIGKILL")
  await ended

  const { value } = await stage.json<typeof alive.value>(["workers", "ls"])
  const [worker] = value.workers
  expect(worker).toMatchObject({ state: "gone" })
  const gone = await stage.json<object>(["workers", "gone", worker?.worker_id ?? "", "--reason", "I killed it"])
  expect(gone.value).toMatchObject({ worker_id: worker?.worker_id, state: "gone" })
  const [operation] = (await stage.json<{ operations: { operation_id: string }[] }>(["ops", "--open"])).value.operations
  const found = await stage.json<Result>([
    ...["ops", "reconcile", operation?.operation_id ?? "", "--tools", TOOLS, "--wait", "50s"],
  ])
  expect([found.code, found.value.ok]).toEqual([0, true])
  expect(stage.effects()).toEqual(["killed"])
  stage.close()
})

test("a worker that ended in order is closed, and nobody's word is taken about it", async () => {
  const stage = new Stage()
  await stage.call("test.mail", { id: "closed" })
  expect((await stage.json<{ workers: unknown[] }>(["workers"])).value.workers).toEqual([])
  const all = await stage.json<{ workers: { worker_id: string; state: string }[] }>(["workers", "ls", "--all"])
  expect(all.value.workers).toMatchObject([{ state: "closed" }])
  const id = all.value.workers[0]?.worker_id ?? ""
  const { code, stderr } = await stage.run(["workers", "gone", id, "--reason", "r"])
  expect(stderr).toBe(
    `invoke: worker ${id} is closed: it ended in order, with no open attempt. There is nothing to do. (illegal_transition)\n`,
  )
  expect(code).toBe(4)
  stage.close()
})

test("an incident is listed until it is closed, with what was found and by whom, once", async () => {
  const stage = new Stage()
  const wrong = await stage.call("test.pay", { id: "wrong", said: "10", how: "lost_wrong" }, ["--wait", "50s"])
  const open = await stage.json<{ incidents: Incident[] }>(["incidents"])
  expect(open.value.incidents).toMatchObject([{ kind: "diverged", operation_id: wrong.operation_id, closed_at: null }])
  const id = open.value.incidents[0]?.incident_id ?? ""
  expect((await stage.run(["ops", "show", wrong.operation_id])).stdout).toContain(id)
  expect((await stage.run(["doctor"])).stdout).toContain("1 open: invoke incidents ls")

  const words = ["incidents", "close", id, "--resolution", "the provider had rounded", "--as", "ann"]
  const closed = await stage.json<Incident>(words)
  expect(closed.value).toMatchObject({ closed_by: "ann", resolution: "the provider had rounded" })
  expect((await stage.json<{ incidents: unknown[] }>(["incidents", "ls"])).value.incidents).toEqual([])
  const all = await stage.json<{ incidents: unknown[] }>([
    ...["incidents", "ls", "--all", "--operation", wrong.operation_id],
  ])
  expect(all.value.incidents).toHaveLength(1)
  const again = await stage.run(words)
  expect(again.stderr).toContain(`incident ${id} was closed by ann on`)
  expect(again.code).toBe(4)
  stage.close()
})

describe("doctor", () => {
  test("reports a journal that is well, and exits with 0", async () => {
    const stage = new Stage()
    await stage.call("test.mail", { id: "1", how: "lost_after" })
    const { code, value } = await stage.json<{
      ok: boolean
      node: string
      checks: { check: string; level: string }[]
      journal: { facts: Record<string, unknown>; unresolved: object; identity: { location: string; driver: string } }
    }>(["doctor"])
    expect([code, value.ok, value.node]).toEqual([0, true, process.version])
    expect(value.checks.filter(({ level }) => level === "problem")).toEqual([])
    expect(value.checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(["node", "transport", "journal", "synchronous", "quarantine", "needs_review"]),
    )
    expect(value.journal.identity).toMatchObject({ location: stage.journal })
    expect(value.journal.facts["sqlite"]).toMatch(/^3\.\d+\.\d+$/)
    expect(value.journal.unresolved).toEqual({ needs_review: 1 })
    const text = await stage.run(["doctor"])
    for (const fact of [
      "journal_id",
      "incarnation",
      "driver",
      "sqlite",
      "schema",
      "file_system",
      "unresolved",
      "workers",
    ]) {
      expect(text.stdout).toMatch(new RegExp(`^${fact} +\\S`, "m"))
    }
    stage.close()
  })

  test("reports a journal that cannot be opened as a problem, beside what it knows of the machine", async () => {
    const stage = new Stage()
    stage.file("broken.db", "this is no database, but it is longer than a header of one would be".repeat(9))
    for (const journal of ["broken.db", "none.db", "nowhere/none.db"]) {
      const { code, stdout, stderr } = await stage.run(["doctor"], { journal })
      expect(stdout).toMatch(/^node +v/m)
      expect(stdout).toMatch(/^journal +problem: /m)
      expect([code, stderr]).toEqual([1, ""])
      expect(existsSync(join(stage.folder, "none.db"))).toBe(false)
    }
    stage.close()
  })

  test("checks the machine alone where no journal is named", async () => {
    const stage = new Stage()
    const { code, stdout } = await stage.run(["doctor"], { journal: "" })
    expect(stdout).toMatch(/^transport +the self-test passed/m)
    expect(stdout).toMatch(/^journal +warning: none is named/m)
    expect(code).toBe(0)
    stage.close()
  })
})
