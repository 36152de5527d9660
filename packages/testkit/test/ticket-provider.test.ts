// Hunts lists that are fresher, pages that are steadier and names that are safer than those of real ticket systems:
// each of them would make an unsafe negative look safe.
// Proofs that rest on it: RC-5, RC-6, RP-7. They are the engine's to prove, so no name here cites them.
import { startProvider, type RunningProvider, type TicketSettings } from "@invokejs/testkit"
import { expect, onTestFinished, test } from "vitest"
import { scratchDirectory } from "./scratch-directory.ts"

const MINUTE_MS = 60_000

interface TicketJson {
  readonly id: string
  readonly name: string | null
  readonly title: string
  readonly external_ref: string | null
  readonly state: string
  readonly version: number
  readonly data: readonly TicketJson[]
  readonly next_cursor: string | null
  readonly error: { readonly code: string; readonly existing_id?: string }
}

async function startTickets(settings: Partial<TicketSettings> = {}): Promise<RunningProvider<"ticket">> {
  const tickets = await startProvider("ticket", { directory: scratchDirectory(), settings })
  onTestFinished(() => tickets.kill())
  return tickets
}

interface Answered {
  readonly status: number
  readonly etag: string
  readonly body: TicketJson
}

async function ask(
  tickets: { readonly url: string },
  call: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const [method = "GET", path = "/"] = call.split(" ")
  const answer = await fetch(tickets.url + path, {
    method,
    headers: { authorization: "Bearer sk_test_invoke", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    etag: answer.headers.get("etag") ?? "",
    body: (text === "" ? {} : JSON.parse(text)) as TicketJson,
  }
}

async function titles(tickets: { readonly url: string }, path: string): Promise<string[]> {
  return (await ask(tickets, `GET ${path}`)).body.data.map(({ title }) => title)
}

test("a ticket is made, read by its id, and made twice when asked twice", async () => {
  const tickets = await startTickets()
  const input = { title: "Broken login", body: "Since Monday", external_ref: "op_1" }
  const first = await ask(tickets, "POST /tickets", input)
  expect(first.status).toBe(201)
  expect(first.body).toMatchObject({ ...input, state: "open", version: 1, name: null })
  expect((await ask(tickets, `GET /tickets/${first.body.id}`)).body).toEqual(first.body)
  const second = await ask(tickets, "POST /tickets", input, { "idempotency-key": "k1" })
  const third = await ask(tickets, "POST /tickets", input, { "idempotency-key": "k1" })
  expect(new Set([first.body.id, second.body.id, third.body.id]).size).toBe(3)
  expect((await ask(tickets, "GET /tickets?external_ref=op_1")).body.data).toHaveLength(3)
  expect(await tickets.effects("ticket.created")).toHaveLength(3)
})

test("lists are behind, reading by id is not, and search is behind them all", async () => {
  const tickets = await startTickets({ list_lag_ms: MINUTE_MS, search_lag_ms: 40 * MINUTE_MS })
  const { body } = await ask(tickets, "POST /tickets", { title: "One" })
  expect((await ask(tickets, `GET /tickets/${body.id}`)).status).toBe(200)
  expect([await titles(tickets, "/tickets"), await titles(tickets, "/search?q=one")]).toEqual([[], []])
  await tickets.control({ clock_offset_ms: 2 * MINUTE_MS })
  expect([await titles(tickets, "/tickets"), await titles(tickets, "/search?q=one")]).toEqual([["One"], []])
  await tickets.control({ clock_offset_ms: 41 * MINUTE_MS })
  expect(await titles(tickets, "/search?q=ONE")).toEqual(["One"])
})

test("a lagging list shows the old content of a changed ticket and a deleted one still", async () => {
  const tickets = await startTickets()
  const { body } = await ask(tickets, "POST /tickets", { title: "Old" })
  await tickets.control({ list_lag_ms: MINUTE_MS, clock_offset_ms: 5 * MINUTE_MS })
  await ask(tickets, `PATCH /tickets/${body.id}`, { title: "New" })
  expect(await titles(tickets, "/tickets")).toEqual(["Old"])
  await tickets.control({ clock_offset_ms: 7 * MINUTE_MS })
  expect(await titles(tickets, "/tickets")).toEqual(["New"])
  await ask(tickets, `DELETE /tickets/${body.id}`)
  expect(await titles(tickets, "/tickets")).toEqual(["New"])
  await tickets.control({ clock_offset_ms: 9 * MINUTE_MS })
  expect(await titles(tickets, "/tickets")).toEqual([])
})

test("search answers with a deleted ticket for a day", async () => {
  const tickets = await startTickets()
  const { body } = await ask(tickets, "POST /tickets", { title: "Gone" })
  expect((await ask(tickets, `DELETE /tickets/${body.id}`)).status).toBe(204)
  expect((await ask(tickets, `GET /tickets/${body.id}`)).status).toBe(404)
  expect(await titles(tickets, "/tickets")).toEqual([])
  expect(await titles(tickets, "/search?q=gone")).toEqual(["Gone"])
  await tickets.control({ clock_offset_ms: 25 * 60 * MINUTE_MS })
  expect(await titles(tickets, "/search?q=gone")).toEqual([])
})

async function twoPages(tickets: RunningProvider<"ticket">, between: () => Promise<unknown>): Promise<string[]> {
  const first = (await ask(tickets, "GET /tickets?limit=2")).body
  await between()
  const second = (await ask(tickets, `GET /tickets?limit=2&cursor=${first.next_cursor}`)).body
  return [...first.data, ...second.data].map(({ title }) => title)
}

test("unstable pages shift: an insertion repeats a ticket, a deletion hides one", async () => {
  const tickets = await startTickets()
  const ids: string[] = []
  for (const title of ["A", "B", "C", "D"]) ids.push((await ask(tickets, "POST /tickets", { title })).body.id)
  const inserted = await twoPages(tickets, () => ask(tickets, "POST /tickets", { title: "E" }))
  expect(inserted).toEqual(["D", "C", "C", "B"])
  const deleted = await twoPages(tickets, () => ask(tickets, `DELETE /tickets/${ids[3]}`))
  expect(deleted).toEqual(["E", "D", "B", "A"])
})

test("a stable cursor neither repeats nor hides", async () => {
  const tickets = await startTickets({ stable_cursor: true })
  for (const title of ["A", "B", "C", "D"]) await ask(tickets, "POST /tickets", { title })
  const seen = await twoPages(tickets, () => ask(tickets, "POST /tickets", { title: "E" }))
  expect(seen).toEqual(["D", "C", "B", "A"])
  expect((await ask(tickets, "GET /tickets?cursor=after.tkt_none")).body.error.code).toBe("invalid_cursor")
})

test("a name is taken once, the refusal names the holder, and deleting frees it", async () => {
  const tickets = await startTickets()
  const first = await ask(tickets, "POST /tickets", { title: "A", name: "op-1" })
  const second = await ask(tickets, "POST /tickets", { title: "B", name: "op-1" })
  expect([second.status, second.body.error]).toEqual([
    409,
    expect.objectContaining({ code: "name_taken", existing_id: first.body.id }),
  ])
  await ask(tickets, `DELETE /tickets/${first.body.id}`)
  const third = await ask(tickets, "POST /tickets", { title: "C", name: "op-1" })
  expect(third.status).toBe(201)
  expect(third.body.id).not.toBe(first.body.id)
  expect(await tickets.effects("ticket.created")).toHaveLength(2)
})

test("a name goes to one of two that ask at once", async () => {
  const tickets = await startTickets()
  await tickets.gate("before_effect")
  const both = ["A", "B"].map((title) => ask(tickets, "POST /tickets", { title, name: "op-1" }))
  await tickets.atGate(2)
  await tickets.gate("open")
  expect((await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
})

test("a write with a stale etag is refused and changes nothing", async () => {
  const tickets = await startTickets()
  const made = await ask(tickets, "POST /tickets", { title: "A", body: "text" })
  const path = `/tickets/${made.body.id}`
  const closed = await ask(tickets, `PATCH ${path}`, { state: "closed" }, { "if-match": made.etag })
  expect([closed.status, closed.body.state, closed.body.version]).toEqual([200, "closed", 2])
  expect(closed.etag).not.toBe(made.etag)
  const stale = await ask(tickets, `PUT ${path}`, { title: "B" }, { "if-match": made.etag })
  expect([stale.status, stale.body.error.code]).toEqual([412, "precondition_failed"])
  expect((await ask(tickets, `DELETE ${path}`, undefined, { "if-match": made.etag })).status).toBe(412)
  expect((await ask(tickets, `GET ${path}`)).body).toEqual(closed.body)
  const put = await ask(tickets, `PUT ${path}`, { title: "B" }, { "if-match": closed.etag })
  expect(put.body).toMatchObject({ title: "B", body: "", state: "open", version: 3 })
  expect(await tickets.effects("ticket.updated")).toHaveLength(2)
  await tickets.control({ require_if_match: true })
  expect((await ask(tickets, `PUT ${path}`, { title: "C" })).status).toBe(428)
})

test("setting a state twice moves the version twice", async () => {
  const tickets = await startTickets()
  const { body } = await ask(tickets, "POST /tickets", { title: "A" })
  await ask(tickets, `PATCH /tickets/${body.id}`, { state: "closed" })
  expect((await ask(tickets, `PATCH /tickets/${body.id}`, { state: "closed" })).body.version).toBe(3)
})

test("what is refused makes no ticket", async () => {
  const tickets = await startTickets()
  const statuses = []
  for (const body of [{}, { title: "A", colour: "red" }, { title: 1 }, { title: "A", state: "lost" }]) {
    statuses.push((await ask(tickets, "POST /tickets", body)).status)
  }
  statuses.push((await ask(tickets, "POST /tickets", { title: "A" }, { authorization: "Bearer wrong" })).status)
  statuses.push((await ask(tickets, "GET /tickets?created_since=yesterday")).status)
  expect(statuses).toEqual([422, 422, 422, 422, 401, 422])
  expect(await tickets.effects()).toEqual([])
})

test("tickets survive a kill, with their versions and lags", async () => {
  const tickets = await startTickets({ list_lag_ms: MINUTE_MS })
  const { body } = await ask(tickets, "POST /tickets", { title: "A" })
  await ask(tickets, `PATCH /tickets/${body.id}`, { title: "B" })
  await tickets.restart()
  expect((await ask(tickets, `GET /tickets/${body.id}`)).body).toMatchObject({ title: "B", version: 2 })
  expect(await titles(tickets, "/tickets")).toEqual([])
})
