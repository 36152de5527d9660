// Hunts a proxy program that obeys other words than the class, or that outlives who started it.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { countingServer } from "./counting-server.ts"

const PROGRAM = fileURLToPath(import.meta.resolve("@invokejs/testkit/package.json")).replace(
  "package.json",
  "dist/fault-proxy/fault-proxy-program.js",
)

test("the program takes a script, obeys commands, reports, and ends with its input", async () => {
  const target = await countingServer()
  const script = [{ fault: { kind: "drop_answer", then: "rst" } }]
  const program = spawn(process.execPath, [PROGRAM, JSON.stringify({ target: target.url, script })], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  onTestFinished(() => void program.kill("SIGKILL"))
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]()
  const heard = async (): Promise<Record<string, unknown>> => JSON.parse(String((await lines.next()).value)) as never
  const told = async (command: unknown): Promise<Record<string, unknown>> => {
    program.stdin.write(`${JSON.stringify(command)}\n`)
    return heard()
  }
  const { port } = await heard()
  const post = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${String(port)}/charges`, { method: "POST", body: "a=1" })
  await expect(post()).rejects.toThrow("fetch failed")
  expect((await post()).status).toBe(201)
  expect(await told({ command: "script", rules: [{ fault: { kind: "answer_instead", status: 502 } }] })).toEqual({})
  expect((await post()).status).toBe(502)
  expect(await told({ command: "report" })).toMatchObject({ counters: { requests: 3, deliveries: 2 }, held: [] })
  expect(await told({ command: "release" })).toEqual({ error: "no request is held" })
  expect(await told({ command: "dance" })).toEqual({ error: "a command is script, retarget, release or report" })
  expect(target.whole).toHaveLength(2)
  program.stdin.end()
  expect(await once(program, "exit")).toEqual([0, null])
})
