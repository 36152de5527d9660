// Hunts a provider that forgets: effects that were counted only in the memory of a process that died, keys that do not
// survive a restart, a torn ledger, and a process that outlives its test.
// Proofs that rest on it: CS-5. They are the engine's to prove, so no name here cites them.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, readFileSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { startProvider } from "@invokejs/testkit"
import { expect, onTestFinished, test } from "vitest"
import { scratchDirectory } from "./scratch-directory.ts"
import { charge, CHARGE, get, post, startStripe } from "./stripe-client.ts"

test("effects, objects, keys and settings survive a kill", async () => {
  const stripe = await startStripe({ surcharge: 100 })
  const made = await charge(stripe, {}, "k1")
  const pid = stripe.pid
  await stripe.kill()
  expect(await stripe.effects("charge.created")).toHaveLength(1)
  await stripe.restart()
  expect(stripe.pid).not.toBe(pid)
  expect((await get(stripe, `/v1/charges/${made.id}`)).body).toEqual(made)
  expect(await charge(stripe, {}, "k1")).toEqual(made)
  expect((await charge(stripe)).amount).toBe(2500)
  expect(await stripe.effects("charge.created")).toHaveLength(2)
})

test("an effect is in the ledger before anybody is answered", async () => {
  const stripe = await startStripe()
  await stripe.gate("after_effect")
  const call = post(stripe, "/v1/charges", CHARGE, { key: "k1" })
  await stripe.atGate(1)
  const lost = expect(call).rejects.toThrow("fetch failed")
  await stripe.kill()
  await lost
  const [effect] = await stripe.effects()
  expect(effect).toMatchObject({ kind: "charge.created", idempotency_key: "k1" })
})

test("an effect that was not in the ledger never was, and the ledger goes on behind a torn line", async () => {
  const stripe = await startStripe()
  const first = await charge(stripe, {}, "k1")
  await charge(stripe, {}, "k2")
  await stripe.kill()
  const file = join(stripe.directory, "ledger.jsonl")
  const text = readFileSync(file, "utf8")
  truncateSync(file, text.indexOf(`"k2"`, text.indexOf(`"executed"`, text.indexOf(`"k2"`))) + 2)
  expect(await stripe.effects()).toHaveLength(1)
  await stripe.restart()
  expect(await charge(stripe, {}, "k1")).toEqual(first)
  const again = await post(stripe, "/v1/charges", CHARGE, { key: "k2" })
  expect(again.headers.get("idempotent-replayed")).toBeNull()
  expect(await stripe.effects()).toHaveLength(2)
  await stripe.restart()
  expect(await stripe.effects()).toHaveLength(2)
})

test("every request is in the ledger with its answer, also those that were refused", async () => {
  const stripe = await startStripe()
  await charge(stripe, {}, "k1")
  await charge(stripe, {}, "k1")
  await post(stripe, "/v1/charges", CHARGE, { secret: "sk_wrong" })
  await get(stripe, "/v1/charges?limit=1")
  const lines = await stripe.ledger()
  const requests = lines.filter((line) => line.type === "request")
  expect(requests.map(({ method, path, idempotency_key }) => `${method} ${path} ${idempotency_key}`)).toEqual([
    "POST /v1/charges k1",
    "POST /v1/charges k1",
    "POST /v1/charges null",
    "GET /v1/charges?limit=1 null",
  ])
  const answers = lines.filter((line) => line.type === "answered")
  expect(answers.map(({ status, replay_of }) => [status, replay_of])).toEqual([
    [200, null],
    [200, requests[0]?.request_id],
    [401, null],
    [200, null],
  ])
  const served: unknown = await (await fetch(`${stripe.url}/_ledger/effects`)).json()
  expect(served).toEqual(await stripe.effects())
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1))
})

test("the same seed gives the same object ids", async () => {
  const made: string[] = []
  for (let n = 0; n < 2; n += 1) {
    const stripe = await startProvider("stripe", { directory: scratchDirectory(), seed: "fixed" })
    onTestFinished(() => stripe.kill())
    made.push((await charge(stripe)).id)
  }
  const other = await startStripe()
  expect(made[1]).toBe(made[0])
  expect((await charge(other)).id).not.toBe(made[0])
})

test("a setting or a stage that does not exist is refused with the names that do", async () => {
  const stripe = await startStripe()
  // @ts-expect-error the setting belongs to another provider
  await expect(stripe.control({ search_lag_ms: 1 })).rejects.toThrow('unknown setting "search_lag_ms"; known: api_key')
  // @ts-expect-error a lag is a number
  await expect(stripe.control({ list_lag_ms: "1" })).rejects.toThrow('setting "list_lag_ms" is a number')
  // @ts-expect-error charges end in one of two ways
  await expect(stripe.control({ charges_settle_as: "lost" })).rejects.toThrow("is one of succeeded, failed")
  // @ts-expect-error there are three stages
  await expect(stripe.answers([{ stage: "later" }])).rejects.toThrow('unknown stage "later"; known: before_key')
})

test("a ledger belongs to one kind of provider", async () => {
  const directory = scratchDirectory()
  const stripe = await startProvider("stripe", { directory })
  await stripe.stop()
  await expect(startProvider("mail", { directory })).rejects.toThrow(
    "the mail provider did not start: this ledger belongs to a stripe provider",
  )
})

test("a provider ends when whoever started it is killed", async () => {
  const directory = scratchDirectory()
  const program = `
    import { startProvider } from "@invokejs/testkit"
    const provider = await startProvider("stripe", { directory: ${JSON.stringify(directory)} })
    console.log(provider.url)
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [chunk] = (await once(parent.stdout, "data")) as [Buffer]
  const url = chunk.toString().trim()
  expect((await get({ url }, "/v1/charges")).status).toBe(200)
  parent.kill("SIGKILL")
  await once(parent, "exit")
  const refused = async (): Promise<boolean> => {
    try {
      await get({ url }, "/v1/charges")
      return false
    } catch {
      return true
    }
  }
  await expect.poll(refused, { timeout: 30_000 }).toBe(true)
})

test("control doors leave no request in the ledger", async () => {
  const stripe = await startStripe()
  await stripe.control({ list_lag_ms: 5 })
  await fetch(`${stripe.url}/_control/settings`)
  appendFileSync(join(stripe.directory, "unrelated"), "x")
  expect((await stripe.ledger()).map(({ type }) => type)).toEqual(["opened", "settings"])
})
