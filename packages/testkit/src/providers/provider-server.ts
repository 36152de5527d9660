/**
 * The shell around every stand-in provider: HTTP in and out, the ledger, and the order in which a request is served.
 *
 * It owns the ledger and the store. It knows nothing of any provider's rules; those plan, this one runs.
 *
 * 1. Every request is a line of the ledger before anything is decided about it.
 * 2. Order: answers ordered `before_key`; the provider's plan (authentication, key layer, validation); the gate and the
 *    latency before the effect; the effect, durable together with the stored answer; the gate and latency after it.
 * 3. Whatever becomes of the connection, an execution that has begun runs to its end.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { AnswerRules, type AnswerRule } from "./answer-rules.ts"
import { Gate } from "./gate.ts"
import type { Ledger } from "./ledger.ts"
import type { LedgerLine } from "./ledger-line.ts"
import { ObjectStore } from "./object-store.ts"
import { jsonAnswer, type Execution, type Plan, type Provider, type ProviderAnswer } from "./provider.ts"
import type { ProviderRequest, ProviderWorld } from "./provider.ts"
import { ProviderClock } from "./provider-clock.ts"
import { LineIds } from "./provider-ids.ts"
import { checkSettings, type CommonSettings, type SettingChoices } from "./provider-settings.ts"
import { latency } from "./provider-timer.ts"

export interface ProviderKind<Settings extends CommonSettings> {
  readonly name: string
  readonly defaults: Settings
  readonly choices: SettingChoices
  readonly requestIdPrefix: string
  open(world: ProviderWorld<Settings>): Provider
}

export class ProviderServer<Settings extends CommonSettings> {
  readonly rules = new AnswerRules()
  readonly gate = new Gate()
  readonly #kind: ProviderKind<Settings>
  readonly #ledger: Ledger
  readonly #clock = new ProviderClock()
  readonly #store = new ObjectStore()
  readonly #provider: Provider
  readonly #seed: string
  readonly #exit: () => void
  #settings: Settings

  constructor(
    kind: ProviderKind<Settings>,
    ledger: Ledger,
    options: { readonly seed: string; readonly exit: () => void },
  ) {
    this.#kind = kind
    this.#ledger = ledger
    this.#exit = options.exit
    this.#settings = kind.defaults
    this.#provider = kind.open({ store: this.#store, clock: this.#clock, settings: () => this.#settings })
    const opened = ledger.lines.find((line) => line.type === "opened")
    this.#seed = opened?.seed ?? options.seed
    if (opened === undefined) {
      ledger.append({ type: "opened", at_ms: this.#clock.now_ms(), provider: kind.name, seed: this.#seed })
    } else if (opened.provider !== kind.name) {
      throw new Error(`this ledger belongs to a ${opened.provider} provider, not to a ${kind.name} one`)
    }
    for (const line of ledger.lines) this.#replay(line)
  }

  get settings(): Settings {
    return this.#settings
  }

  get lines(): readonly LedgerLine[] {
    return this.#ledger.lines
  }

  /** Changes settings for good: they are in the ledger, and a restart has them again. */
  change(given: unknown): Settings {
    const settings = checkSettings(this.#kind.defaults, this.#kind.choices, given)
    this.#replay(this.#ledger.append({ type: "settings", at_ms: this.#clock.now_ms(), settings }))
    return this.#settings
  }

  async serve(message: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const request = this.#receive(message, body)
    this.#settle()
    const early = this.rules.take("before_key", request)
    if (early !== null) return this.#leave(request, response, this.#ordered(early), early.then)
    const plan = this.#provider.plan(request)
    if (plan.kind === "answer") return this.#leave(request, response, plan.answer, "answer")
    await this.#execute(request, response, plan)
  }

  async #execute(
    request: ProviderRequest,
    response: ServerResponse,
    plan: Extract<Plan, { kind: "execute" }>,
  ): Promise<void> {
    await latency(this.#settings.latency_before_ms)
    await this.gate.pass("before_effect")
    const instead = this.rules.take("execution", request)
    if (instead?.then === "exit") return this.#exit()
    const execution = instead === null ? plan.run() : nothingBut(this.#ordered({ status: 500, ...instead }))
    const after = instead === null ? this.rules.take("after_effect", request) : null
    const answer = after === null ? execution.answer : this.#ordered(after, execution.answer)
    this.#write(request, plan, { ...execution, answer })
    if (after?.then === "exit") return this.#exit()
    await this.gate.pass("after_effect")
    await latency(this.#settings.latency_after_ms)
    plan.key?.release()
    this.#leave(request, response, answer, (instead ?? after)?.then)
  }

  #write(request: ProviderRequest, plan: Extract<Plan, { kind: "execute" }>, execution: Execution): void {
    const at_ms = this.#clock.now_ms()
    const idempotency_key = request.headers.get("idempotency-key") ?? null
    const line = this.#ledger.append({
      type: "executed",
      at_ms,
      request_id: request.id,
      effects: execution.effects.map((effect) => ({ ...effect, request_id: request.id, idempotency_key, at_ms })),
      changes: execution.changes,
      key: plan.key?.record ?? null,
      answer: { status: execution.answer.status, body: execution.answer.body },
    })
    this.#replay(line)
  }

  #receive(message: IncomingMessage, body: string): ProviderRequest {
    const seq = this.#ledger.nextSeq
    const ids = new LineIds(this.#seed, seq)
    const target = message.url ?? "/"
    const url = new URL(target, "http://provider.invalid")
    const headers = new Map(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
    const request_id = ids.next(this.#kind.requestIdPrefix, 14)
    const method = message.method ?? "GET"
    const idempotency_key = headers.get("idempotency-key") ?? null
    const at_ms = this.#clock.now_ms()
    this.#ledger.append({ type: "request", at_ms, request_id, method, path: target, idempotency_key, body })
    return { id: request_id, method, path: url.pathname, query: url.searchParams, headers, body, ids }
  }

  /** What time alone has changed since the last request becomes true now, before this request looks. */
  #settle(): void {
    const changes = this.#provider.due(new LineIds(this.#seed, this.#ledger.nextSeq))
    if (changes.length === 0) return
    this.#replay(this.#ledger.append({ type: "settled", at_ms: this.#clock.now_ms(), changes }))
  }

  #ordered(rule: AnswerRule, truth: ProviderAnswer = jsonAnswer(200, {})): ProviderAnswer {
    const said = rule.status === undefined ? truth : this.#provider.ordered(rule.status)
    return {
      status: said.status,
      headers: { ...said.headers, ...rule.headers },
      body: rule.body === undefined ? said.body : JSON.stringify(rule.body),
    }
  }

  #leave(request: ProviderRequest, response: ServerResponse, answer: ProviderAnswer, then: AnswerRule["then"]): void {
    if (then === "exit") return this.#exit()
    if (then === "silence") return
    if (then === "rst") response.socket?.resetAndDestroy()
    if (then === "fin") response.socket?.end()
    if (then === "rst" || then === "fin") return
    const replay_of = answer.replay_of ?? null
    const { status } = answer
    this.#ledger.append({ type: "answered", at_ms: this.#clock.now_ms(), request_id: request.id, status, replay_of })
    response.writeHead(status, {
      ...answer.headers,
      "request-id": request.id,
      "content-length": Buffer.byteLength(answer.body),
    })
    response.end(answer.body)
  }

  /** Makes the memory what a ledger line says, at start and after each append alike. */
  #replay(line: LedgerLine): void {
    if (line.type === "settings") {
      this.#settings = { ...this.#settings, ...line.settings }
      this.#clock.move(this.#settings.clock_offset_ms)
    }
    if (line.type === "executed" || line.type === "settled") {
      for (const change of line.changes) this.#store.apply(change, line.at_ms)
    }
    if (line.type === "executed" && line.key !== null) this.#provider.learn?.(line.key, line.request_id, line.answer)
  }
}

function nothingBut(answer: ProviderAnswer): Execution {
  return { effects: [], changes: [], answer }
}
