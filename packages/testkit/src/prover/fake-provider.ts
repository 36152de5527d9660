/**
 * The fake of a provider as an author hands it in: what it answers, and its own count of what became true.
 *
 * FP1. The count is the fake's own. Nothing that the tool, the engine or the prover believes stands in for it.
 * FP2. What the author knows of the real provider's times is said on the fake; what the tool claims is in its contract.
 */
import type { Duration } from "@invokejs/engine"

export interface FakeRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface FakeAnswer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A text as it is; anything else as JSON. */
  readonly body?: unknown
}

interface FakeFacts {
  /** How many effects took place so far, by the fake's own count. */
  effects(): number | Promise<number>
  /** How long the real provider may sit on a request before it acts. Default: what the tool's contract says. */
  readonly landsWithin?: Duration
  /** How long its lookups may miss what was just made. Default: what the tool's contract says. */
  readonly showsWithin?: Duration
  /** How many objects its lists give at once. */
  readonly page?: number
}

/** In this process; the prover serves it over HTTP. */
export interface FakeInProcess extends FakeFacts {
  handle(request: FakeRequest): FakeAnswer | Promise<FakeAnswer>
  /** Called before each case, for a `provider` that hands out one fake again and again. */
  reset?(): void | Promise<void>
}

/** A fake that is served already: a stand-in, a sandbox. */
export interface FakeAtUrl extends FakeFacts {
  readonly url: string
  /** Sets its clock ahead of the real one. Without it, cases that need its time to pass are not tried. */
  clock?(offset_ms: number): void | Promise<void>
  stop?(): void | Promise<void>
}

export type Fake = FakeInProcess | FakeAtUrl

/** What `provider` is given. */
export interface FakeWorld {
  /** The case's time, which passes faster than the real one: ms since 1970. Date what you make by it. */
  now(): number
}

export function isAtUrl(fake: Fake): fake is FakeAtUrl {
  return "url" in fake
}
