// Hunts a mail stand-in that is kinder than mail: one that takes a key, or that can be asked what it sent.
// Proofs that rest on it: RP-7, ST-2. They are the engine's to prove, so no name here cites them.
import { startProvider, type RunningProvider } from "@invokejs/testkit"
import { expect, onTestFinished, test } from "vitest"
import { scratchDirectory } from "./scratch-directory.ts"

const MAIL = { to: "ada@example.com", subject: "Invoice 84721", body: "It is due on Friday." }

async function startMail(): Promise<RunningProvider<"mail">> {
  const mail = await startProvider("mail", { directory: scratchDirectory() })
  onTestFinished(() => mail.kill())
  return mail
}

function ask(
  mail: { readonly url: string },
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(mail.url + path, {
    method,
    headers: { authorization: "Bearer sk_test_invoke", "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

test("a mail is accepted and counted", async () => {
  const mail = await startMail()
  const answer = await ask(mail, "POST", "/send", MAIL)
  const body = (await answer.json()) as { id: string }
  expect([answer.status, body]).toEqual([202, { id: expect.stringMatching(/^mail_/), status: "queued" }])
  const [effect] = await mail.effects("mail.sent")
  expect(effect).toMatchObject({ object_id: body.id, object: MAIL })
  await mail.control({ accept_status: 200 })
  expect((await ask(mail, "POST", "/send", MAIL)).status).toBe(200)
})

test("an idempotency key changes nothing: twice asked is twice sent", async () => {
  const mail = await startMail()
  const headers = { "idempotency-key": "k1" }
  const first = (await (await ask(mail, "POST", "/send", MAIL, headers)).json()) as { id: string }
  const second = (await (await ask(mail, "POST", "/send", MAIL, headers)).json()) as { id: string }
  expect(second.id).not.toBe(first.id)
  expect(await mail.effects("mail.sent")).toHaveLength(2)
})

test("nothing can be asked about what was sent", async () => {
  const mail = await startMail()
  const { id } = (await (await ask(mail, "POST", "/send", MAIL)).json()) as { id: string }
  for (const path of ["/send", `/send/${id}`, "/mails", `/mails/${id}`, "/search?q=84721"]) {
    expect((await ask(mail, "GET", path, undefined)).status).toBeGreaterThanOrEqual(404)
  }
})

test("a mail that is refused was not sent", async () => {
  const mail = await startMail()
  const statuses = [
    (await ask(mail, "POST", "/send", { ...MAIL, to: "nobody" })).status,
    (await ask(mail, "POST", "/send", { ...MAIL, subject: "" })).status,
    (await ask(mail, "POST", "/send", "text")).status,
    (await ask(mail, "POST", "/send", MAIL, { authorization: "Bearer wrong" })).status,
  ]
  expect(statuses).toEqual([422, 422, 400, 401])
  expect(await mail.effects()).toEqual([])
})

test("a lost answer leaves a sent mail and a client that cannot know it", async () => {
  const mail = await startMail()
  await mail.answers([{ stage: "after_effect", then: "rst" }])
  await expect(ask(mail, "POST", "/send", MAIL)).rejects.toThrow("fetch failed")
  await mail.restart()
  expect(await mail.effects("mail.sent")).toHaveLength(1)
})
