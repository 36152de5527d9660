/**
 * The wire of a simulation: stands where the HTTP client stands, so that the real transport with its stages and gates runs.
 *
 * NW1. A head is written in the call of `onRequestStart`, in the process that owns the request, never while it is frozen.
 */
import type { TransportOptions } from "@invokejs/engine"
import type { FaultCounts } from "./fault-counts.ts"
import type { SeededRandom } from "./seeded-random.ts"
import type { SimProcess } from "./sim-process.ts"
import type { ProviderFaults, SimAnswer, SimProvider, SimRequest } from "./sim-provider.ts"

type Dispatcher = ReturnType<NonNullable<TransportOptions["wrapDispatcher"]>>
type Dispatch = Dispatcher["dispatch"]
type Handler = Parameters<Dispatch>[1]

export interface NetworkFaults extends ProviderFaults {
  readonly refused_connection: number
  readonly slow_connection: number
  readonly silent: number
}

export function simNetwork(parts: {
  readonly process: SimProcess
  readonly random: SeededRandom
  readonly counts: FaultCounts
  readonly provider: (origin: string) => SimProvider
  readonly faults: () => NetworkFaults
}): Dispatcher {
  const { process, random, counts, faults } = parts
  const later = (ms: number, fn: () => void) => process.clock.after(ms, fn)

  function start(handler: Handler, request: SimRequest, provider: SimProvider): void {
    let aborted: Error | null = null
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: null,
      rawTrailers: null,
      abort(reason: Error) {
        if (aborted) return
        aborted = reason
        later(0, () => handler.onResponseError?.(controller, reason))
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
    void process
      .outside(() => provider.request(request, faults()), 0, random.between(1, 50))
      .then((answer) => {
        if (aborted) return
        if (answer === null) {
          if (silent) counts.add("silence")
          else handler.onResponseError?.(controller, Object.assign(new Error("reset"), { code: "ECONNRESET" }))
          return
        }
        respond(handler, controller as never, answer)
      })
  }

  const dispatch: Dispatch = (options, handler) => {
    const provider = parts.provider(String(options.origin))
    const body = options.body as Uint8Array | null
    const headers = options.headers as readonly string[]
    const request = {
      ...(JSON.parse(body ? Buffer.from(body).toString("utf8") : "{}") as object),
      ...(JSON.parse(headers[headers.indexOf("x-sent-by") + 1] ?? "{}") as object),
    } as SimRequest
    const wait = random.chance(faults().slow_connection) ? random.between(1_000, 90_000) : random.between(0, 20)
    if (wait > 1_000) counts.add("slow_connection")
    later(wait, () => {
      if (random.chance(faults().refused_connection)) {
        counts.add("refused_connection")
        handler.onResponseError?.(null as never, Object.assign(new Error("refused"), { code: "ECONNREFUSED" }))
        return
      }
      start(handler, request, provider)
    })
    return true
  }
  return { dispatch }
}

function respond(handler: Handler, controller: never, answer: SimAnswer): void {
  handler.onResponseStart?.(controller, answer.status, { "content-type": "application/json" }, "")
  handler.onResponseData?.(controller, Buffer.from(JSON.stringify({ object_id: answer.object_id ?? null })))
  handler.onResponseEnd?.(controller, {})
}
