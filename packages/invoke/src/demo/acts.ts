/** The six acts. Each ends with what the provider's own ledger says, never with what Invoke believes. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Result } from "@invokejs/protocol"
import { Invoke } from "../index.ts"
import { dollars, type Narrator } from "./narrator.ts"
import { chargeBody, chargeCustomer, payInvoice, sendMail } from "./payment-tools.ts"
import type { Stage } from "./stage.ts"

const ACME = { invoice_id: "84721", customer_id: "cus_acme", amount: 50_000 }
const LOSE_THE_ANSWER = { match: { method: "POST" }, fault: { kind: "drop_answer", then: "rst" } } as const

export interface ActContext {
  readonly stage: Stage
  readonly say: Narrator
}

interface LedgerCharge {
  readonly customer: string
  readonly amount: number
}

/** Charges and their sum for a customer, as the provider's ledger has them. */
async function ledger(stage: Stage, customer: string): Promise<{ count: number; cents: number }> {
  const made = (await stage.payments.effects("charge.created")).map((one) => one.object as LedgerCharge)
  const charges = made.filter((one) => one.customer === customer)
  return { count: charges.length, cents: charges.reduce((sum, one) => sum + one.amount, 0) }
}

async function checkLedger({ stage, say }: ActContext, customer: string, count: number): Promise<void> {
  const seen = await ledger(stage, customer)
  say.check(
    seen.count === count,
    `the provider's ledger: ${seen.count} ${seen.count === 1 ? "charge" : "charges"}, ${dollars(seen.cents)}`,
  )
}

function showResult(say: Narrator, result: Result): void {
  say.fact("status", result.status)
  say.fact("final_outcome", result.final_outcome)
  say.fact("retry", result.retry)
}

export async function actOne(context: ActContext): Promise<void> {
  const { stage, say } = context
  say.act(1, "An ordinary agent retries")
  say.say(
    "It pays ACME's $500 invoice. The charge is made; the acknowledgement is lost. The agent reads TIMEOUT as FAILED and tries again.",
  )
  await stage.toPayments.script([LOSE_THE_ANSWER])
  const body = chargeBody({ ...ACME, customer_id: "cus_acme_1" })
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const said = await fetch(`${stage.toPayments.url}/v1/charges`, {
      method: "POST",
      headers: { authorization: "Bearer sk_test_demo", "content-type": "application/x-www-form-urlencoded" },
      body,
    }).then(
      (answer) => `HTTP ${answer.status}`,
      () => "connection lost",
    )
    say.fact(`attempt ${attempt}`, said)
  }
  await checkLedger(context, "cus_acme_1", 2)
}

export async function actTwo(context: ActContext): Promise<string> {
  const { stage, say } = context
  say.act(2, "The same through Invoke")
  say.say(
    "The same invoice, the same lost acknowledgement. Invoke records the intent, sees the connection die, calls that UNKNOWN, asks the provider, and finds the charge. Then the agent retries.",
  )
  await stage.toPayments.script([LOSE_THE_ANSWER])
  const invoke = await Invoke.open({
    journal: join(stage.folder, "act-2.db"),
    tools: [payInvoice(stage.toPayments.url)],
    log: "silent",
  })
  const params = { ...ACME, customer_id: "cus_acme_2" }
  const first = await invoke.run("billing.pay_invoice", params)
  showResult(say, first)
  const again = await invoke.run("billing.pay_invoice", params)
  say.fact("the agent's retry", `${again.status}, ${again.retry}: nothing was sent`)
  say.check(
    first.status === "reconciled" &&
      first.final_outcome === "already_succeeded" &&
      first.retry === "blocked" &&
      again.status === "replayed",
    "reconciled, already_succeeded, blocked",
  )
  await checkLedger(context, "cus_acme_2", 1)
  await invoke.close()
  return first.operation_id
}

export async function actThree(context: ActContext): Promise<void> {
  const { stage, say } = context
  say.act(3, "The process dies between the charge and its record")
  say.say(
    "SIGKILL after the provider charged, before the answer arrived. A new process opens the same journal and finishes the story.",
  )
  await stage.toPayments.script([{ match: { method: "POST" }, fault: { kind: "drop_answer", then: "keep_open" } }])
  const journal = join(stage.folder, "act-3.db")
  const params = JSON.stringify({ ...ACME, customer_id: "cus_acme_3" })
  const program = fileURLToPath(new URL("./worker-program.js", import.meta.url))
  const first = spawn(process.execPath, [program, journal, stage.toPayments.url, "call", params], { stdio: "ignore" })
  const ended = once(first, "exit")
  for (let waits = 0; (await ledger(stage, "cus_acme_3")).count === 0 && waits < 500; waits += 1) await pause()
  first.kill("SIGKILL")
  await ended
  say.fact("process 1", `killed with SIGKILL (pid ${first.pid ?? 0})`)
  const second = spawn(process.execPath, [program, journal, stage.toPayments.url, "recover"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const text = await read(second.stdout)
  const result = JSON.parse(text) as Result
  say.fact("process 2", "opened the journal, asked the provider")
  showResult(say, result)
  say.check(result.status === "reconciled" && result.ok, "reconciled by a process that never made the call")
  await checkLedger(context, "cus_acme_3", 1)
}

export async function actFour(context: ActContext): Promise<void> {
  const { stage, say } = context
  say.act(4, "The request never arrived")
  say.say(
    "The connection dies with the request half written. Nobody can tell from here, so Invoke waits until it can no longer land, looks twice, and only then tries again.",
  )
  await stage.toPayments.script([
    { match: { method: "POST" }, fault: { kind: "cut", direction: "request", at: { after_bytes: 40 }, by: "rst" } },
  ])
  const invoke = await Invoke.open({
    journal: join(stage.folder, "act-4.db"),
    tools: [payInvoice(stage.toPayments.url)],
    log: "silent",
  })
  const result = (await invoke.run("billing.pay_invoice", { ...ACME, customer_id: "cus_acme_4" })) as Result
  const operation = await invoke.operation(result.operation_id)
  for (const attempt of operation?.attempts ?? []) say.fact(`attempt ${attempt.attempt}`, attempt.status)
  showResult(say, result)
  say.check(
    result.status === "succeeded" && result.attempt === 2,
    "attempt 1 disproved by two looks, attempt 2 acknowledged",
  )
  await checkLedger(context, "cus_acme_4", 1)
  await invoke.close()
}

export async function actFive(context: ActContext): Promise<void> {
  const { stage, say } = context
  say.act(5, "A mail that nobody can look up")
  say.say(
    "The mail provider takes no key and answers no questions. Its acknowledgement is lost: Invoke asks a person, and does not guess.",
  )
  await stage.toMail.script([LOSE_THE_ANSWER])
  const invoke = await Invoke.open({
    journal: join(stage.folder, "act-5.db"),
    tools: [sendMail(stage.toMail.url)],
    log: "silent",
  })
  const result = (await invoke.run("mail.send_receipt", { to: "ap@acme.example", invoice_id: "84721" })) as Result
  showResult(say, result)
  const operator = invoke.operator({ name: "ops@example.com" })
  const resolved = await operator.resolve(result.operation_id, {
    to: "succeeded",
    reason: "the customer confirmed the receipt by telephone",
    evidence: { ticket: "SUP-1182" },
  })
  say.fact("operator", "resolved with evidence: SUP-1182")
  say.fact("status now", `${resolved.status}, ${resolved.final_outcome}`)
  const mails = (await stage.mail.effects()).length
  say.check(result.status === "needs_review" && resolved.ok, "held for a person, settled with evidence")
  say.check(mails === 1, `the mail provider's ledger: ${mails} mail`)
  await invoke.close()
}

export async function actSix(context: ActContext): Promise<void> {
  const { stage, say } = context
  say.act(6, "The model makes up a new key and rewrites the note")
  say.say(
    "While the first payment is not settled, the model asks again: another key, other words, the same customer and amount.",
  )
  await stage.toPayments.script([LOSE_THE_ANSWER])
  const invoke = await Invoke.open({
    journal: join(stage.folder, "act-6.db"),
    tools: [chargeCustomer(stage.toPayments.url)],
    log: "silent",
  })
  const params = { ...ACME, customer_id: "cus_acme_6" }
  const first = await invoke.call({ tool: "billing.charge_customer", params, idempotencyKey: "invoice-84721", wait: 0 })
  const second = await invoke.call({
    tool: "billing.charge_customer",
    params: { ...params, note: "Second try, please pay ACME" },
    idempotencyKey: "retry-9f31",
    wait: 0,
  })
  say.fact("first call", first.status)
  say.fact("second call", `${second.status}, ${second.retry}`)
  const settled = await invoke.wait(first.operation_id)
  const after = await invoke.wait(second.operation_id)
  say.fact("first, settled", settled.final_outcome)
  say.fact("second, settled", `${after.status}, ${after.final_outcome}`)
  say.check(
    second.status === "held" && settled.ok && after.status === "refused",
    "held, then refused as a possible duplicate",
  )
  await checkLedger(context, "cus_acme_6", 1)
  await invoke.close()
}

async function read(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ""
  for await (const part of stream) text += String(part)
  return text
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
