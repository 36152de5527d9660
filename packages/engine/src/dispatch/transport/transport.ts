import type { LookupFunction } from "node:net"

import type { Dispatcher } from "undici"

import type { Clock } from "../../ports/clock.ts"
import { Attempt, type AttemptTransport, type AttemptTransportOptions } from "./attempt-transport.ts"
import { type AgentOptions, pinnedAgent } from "./pinned-agent.ts"
import { publicLookup } from "./private-address.ts"
import { runSelfTest, type SelfTestResult } from "./self-test.ts"

/**
 * The transport of one engine: the connections that attempts share (protocol §5.2).
 *
 * Owns: the HTTP client and the list of attempts that use it. Must not: share state between attempts; everything about
 * one is in `Attempt`.
 */
export interface TransportOptions extends AgentOptions {
  readonly clock: Clock
  /** Resolves names; default the system's. */
  readonly lookup?: LookupFunction
  /** Stands in front of the HTTP client, so that a test can break it. */
  readonly wrapDispatcher?: (dispatcher: Dispatcher) => Pick<Dispatcher, "dispatch">
}

export interface Transport {
  attempt(options: AttemptTransportOptions): AttemptTransport
  /**
   * Asks the HTTP client itself, over loopback, whether its stages are what `neverLeft` relies on. If not, every tool
   * is opaque.
   */
  selfTest(): Promise<SelfTestResult>
  /** Cuts off what is under way and closes every connection. */
  close(): Promise<void>
}

export function createTransport(options: TransportOptions): Transport {
  const { clock, lookup, wrapDispatcher = (dispatcher: Dispatcher) => dispatcher } = options
  const open = pinnedAgent(options)
  const guarded = pinnedAgent({ ...options, lookup: publicLookup(lookup) })
  const dispatchers = { open: wrapDispatcher(open), guarded: wrapDispatcher(guarded) }
  const attempts = new Set<Attempt>()
  let closed = false

  function start(attempt_clock: Clock, attempt_options: AttemptTransportOptions): AttemptTransport {
    const made = new Attempt(attempt_clock, dispatchers, attempt_options, () => attempts.delete(made))
    attempts.add(made)
    if (closed) made.shut()
    return made
  }

  return {
    attempt: (attempt_options) => start(clock, attempt_options),
    selfTest: () => runSelfTest(clock, start),
    async close() {
      closed = true
      for (const running of attempts) running.shut()
      await Promise.all([open.destroy(), guarded.destroy()])
    },
  }
}
