/**
 * The faults of one case, armed at the proxies and at the doors, and whether they took place.
 *
 * CF1. A fault befalls the first effect request of the call, once.
 * CF2. What the world was before the effect is shown by a second fake, which never got the effect request.
 */
import type { FaultProxy } from "../fault-proxy/fault-proxy.ts"
import type { CasePlan } from "./case-plan.ts"
import type { CompressedClock } from "./compressed-clock.ts"
import type { Fake, FakeRequest } from "./fake-provider.ts"
import type { DoorEntry, DoorFault } from "./provider-door.ts"

/** The request that may change the world. */
export interface EffectRequest {
  readonly method: string
  /** Without its query. */
  readonly path: string
}

export interface FaultParts {
  readonly plan: CasePlan
  readonly clock: CompressedClock
  readonly fake: Fake
  /** The world without this call's effect. */
  readonly twin: Fake | null
  readonly effect: EffectRequest | null
}

export interface Proxies {
  readonly call: FaultProxy
  readonly look: FaultProxy
}

export class CaseFaults {
  readonly #parts: FaultParts
  readonly #log: readonly DoorEntry[]
  readonly #aside: (run: () => Promise<void>) => Promise<void>
  #spent = false
  #ended = 0
  /** Looks that were answered from the world before the effect. */
  #behind = 0

  /** `aside`: the case's time stands still meanwhile. */
  constructor(parts: FaultParts, log: readonly DoorEntry[], aside: (run: () => Promise<void>) => Promise<void>) {
    this.#parts = parts
    this.#log = log
    this.#aside = aside
  }

  /** From here on they wait for the call. */
  async arm({ call, look }: Proxies): Promise<void> {
    const { plan, effect } = this.#parts
    if (plan.wire !== undefined) {
      call.script([{ ...(effect === null ? {} : { match: effect }), fault: plan.wire }])
    }
    if (plan.look?.kind === "fails") {
      const fault = { kind: "answer_instead", status: 500, body: "{}" } as const
      look.script([{ fault, times: plan.look.times }])
    }
    if (plan.look?.kind === "broken") look.script([{ fault: plan.look.fault }])
    if (plan.unreachable_ms !== undefined) {
      await call.stopListening()
      this.#listenAfter(call, plan.unreachable_ms)
    }
  }

  attemptEnded(proxies: Proxies): void {
    const { outage_ms } = this.#parts.plan
    this.#ended += 1
    if (outage_ms === undefined || this.#ended > 1) return
    for (const proxy of [proxies.call, proxies.look]) {
      void this.#aside(() => proxy.stopListening())
      this.#listenAfter(proxy, outage_ms)
    }
  }

  atDoor(side: DoorEntry["side"], request: FakeRequest): DoorFault | null {
    const { plan, effect } = this.#parts
    if (this.#spent) return null
    const swallows = side === "look" && plan.look?.kind === "silent"
    const fault = swallows ? SWALLOW : side === "call" && isEffect(request, effect) ? (plan.door ?? null) : null
    if (fault !== null) this.#spent = true
    return fault
  }

  /** CF2. */
  lookedAt(): Fake {
    const { plan, fake, twin, clock } = this.#parts
    if (plan.look?.kind !== "behind" || twin === null) return fake
    const made = this.#log.find((entry) => entry.side === "call" && entry.made > 0)?.handed_at ?? null
    if (made !== null && clock.elapsed >= made + plan.look.ms) return fake
    this.#behind += 1
    return twin
  }

  /** Whether everything that the case is about took place. */
  hit({ call, look }: Proxies): boolean {
    const { plan } = this.#parts
    const faulty = (proxy: FaultProxy) => proxy.record().some((entry) => entry.faults.length > 0)
    const looked = {
      fails: () => faulty(look),
      broken: () => faulty(look),
      silent: () => this.#log.some((entry) => entry.side === "look" && entry.fault !== null),
      behind: () => this.#behind > 0,
    }
    return (
      (plan.wire === undefined || faulty(call)) &&
      (plan.door === undefined || this.#log.some((entry) => entry.side === "call" && entry.fault !== null)) &&
      (plan.look === undefined || looked[plan.look.kind]())
    )
  }

  #listenAfter(proxy: FaultProxy, ms: number): void {
    // Where the port has been taken meanwhile nothing is reachable for longer, which the case then shows.
    this.#parts.clock.after(ms, () => void this.#aside(() => proxy.listenAgain()).catch(() => undefined))
  }
}

const SWALLOW: DoorFault = { kind: "swallow" }

function isEffect(request: FakeRequest, effect: EffectRequest | null): boolean {
  if (effect === null) return request.method !== "GET" && request.method !== "HEAD"
  return request.method === effect.method && pathOf(request.path) === effect.path
}

export function pathOf(path: string): string {
  return path.split("?", 1)[0] ?? path
}
