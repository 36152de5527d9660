/**
 * The wire of a simulation: stands where the HTTP client stands, so that the real transport with its stages and gates runs.
 *
 * NW1. A head is written in the call of `onRequestStart`, in the process that owns the request, never while it is frozen.
 */
import type { TransportOptions } from "@invokejs/engine"
import type { FaultCounts } from "../fault-counts.ts"
import type { SeededRandom } from "../seeded-random.ts"
import type { SimProcess } from "./sim-process.ts"
import type { Incoming, ProviderFaults, SimAnswer, SimProvider } from "./sim-provider.ts"

type Dispatcher = ReturnType<NonNullable<TransportOptions["wrapDispatcher"]>>
type Dispatch = Dispatcher["dispatch"]
type Handler = Parameters<Dispatch>[1]

export interface NetworkFaults extends ProviderFaults {
  readonly refused_connection: number
  readonly slow_connection: number
  readonly silent: number
  readonly unreadable_body: number
}

/** The header in which a tool of the simulation tells the wire what the provider does not read. */
export const SENT_BY = "x-sent-by"

/** A request that changes nothing, and that its tool does not mark as such. */
export const TOKEN_PATH = "/token"

export interface NetworkParts {
  readonly process: SimProcess
  readonly random: SeededRandom
  readonly counts: FaultCounts
  readonly provider: (origin: string) => SimProvider
  readonly faults: () => NetworkFaults
}

export function simNetwork(parts: NetworkParts): Dispatcher {
  const { process, random, counts, faults } = parts
  const dispatch: Dispatch = (options, handler) => {
    const provider = parts.provider(String(options.origin))
    const body = options.body === null ? "" : Buffer.from(options.body as Uint8Array).toString("utf8")
    const headers = options.headers as readonly string[]
    const header = (name: string) => (headers.includes(name) ? headers[headers.indexOf(name) + 1] : undefined)
    const sentBy = JSON.parse(header(SENT_BY) ?? "{}") as Incoming
    const incoming = { ...sentBy, key: header("idempotency-key") ?? sentBy.key, body }
    const slow = random.chance(faults().slow_connection)
    if (slow) counts.add("slow_connection")
    process.clock.after(slow ? random.between(1_000, 90_000) : random.between(0, 20), () => {
      if (random.chance(faults().refused_connection)) {
        counts.add("refused_connection")
        handler.onResponseError?.(null as never, Object.assign(new Error("refused"), { code: "ECONNREFUSED" }))
        return
      }
      start(parts, handler, options.path === TOKEN_PATH ? null : incoming, provider)
    })
    return true
  }
  return { dispatch }
}

/** The connection is there: the head leaves if the transport lets it. */
function start(parts: NetworkParts, handler: Handler, incoming: Incoming | null, provider: SimProvider): void {
  const { process, random, counts, faults } = parts
  let aborted = false
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: null,
    rawTrailers: null,
    abort(reason: Error) {
      if (aborted) return
      aborted = true
      process.clock.after(0, () => handler.onResponseError?.(controller, reason))
    },
    pause: () => undefined,
    resume: () => undefined,
  }
  handler.onRequestStart?.(controller, {})
  if (aborted) {
    counts.add("gate_closed")
    return
  }
  const silent = random.chance(faults().silent)
  const ask = () => (incoming === null ? { status: 200 } : provider.receive(incoming, faults()))
  void process.outside<SimAnswer | null>(ask, 0, random.between(1, 50)).then((answer) => {
    if (aborted) return
    if (answer !== null)
      return respond(handler, controller as never, answer, random.chance(faults().unreadable_body) ? counts : null)
    if (silent) counts.add("silence")
    else handler.onResponseError?.(controller, Object.assign(new Error("reset"), { code: "ECONNRESET" }))
  })
}

/** `broken`: the head arrives, and of the body only half. */
function respond(handler: Handler, controller: never, answer: SimAnswer, broken: FaultCounts | null): void {
  const text = JSON.stringify({ object_id: answer.object_id ?? null })
  const retry = answer.retry_after_s === undefined ? {} : { "retry-after": String(answer.retry_after_s) }
  handler.onResponseStart?.(controller, answer.status, { "content-type": "application/json", ...retry }, "")
  if (broken) {
    broken.add("unreadable_body")
    handler.onResponseData?.(controller, Buffer.from(text.slice(0, 4)))
    handler.onResponseError?.(controller, Object.assign(new Error("reset"), { code: "ECONNRESET" }))
    return
  }
  handler.onResponseData?.(controller, Buffer.from(text))
  handler.onResponseEnd?.(controller, {})
}
