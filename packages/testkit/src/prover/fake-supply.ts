/**
 * Fakes for the cases of one tool: a new one for each where the author's is in this process, the same one where it is served
 * elsewhere.
 *
 * FS1. A fake that lives on keeps its time: a case begins no earlier than the one before it ended.
 */
import { systemClock } from "@invokejs/engine"
import { CompressedClock } from "./compressed-clock.ts"
import { isAtUrl, type Fake } from "./fake-provider.ts"
import { fakeOf, followsClock, type Subject } from "./prove-module.ts"

/** A fake that dates what it makes by the machine's clock is found out, instead of being right by chance. */
const AHEAD_MS = 3_600_000

export interface Supplied {
  readonly clock: CompressedClock
  readonly fake: Fake
  readonly twin: Fake | null
}

export class FakeSupply {
  readonly #subject: Subject
  #served: { readonly fake: Fake; readonly twin: Fake | null } | null = null
  #ended_at = 0
  #now: () => number = () => systemClock.wall()

  constructor(subject: Subject) {
    this.#subject = subject
  }

  async take(): Promise<Supplied> {
    const { fake, twin } = await this.#pair()
    const clock = new CompressedClock(this.#startFor(fake))
    this.#now = () => clock.wall()
    return { clock, fake, twin }
  }

  /** After a case: what it left of its time counts for the next. */
  ended({ clock }: Supplied): void {
    this.#ended_at = Math.max(this.#ended_at, clock.wall())
  }

  async close(): Promise<void> {
    for (const fake of [this.#served?.fake, this.#served?.twin]) if (fake && isAtUrl(fake)) await fake.stop?.()
  }

  #startFor(fake: Fake): number {
    const now = systemClock.wall()
    if (!isAtUrl(fake)) return now + AHEAD_MS
    return followsClock(fake) ? Math.max(now, this.#ended_at + 1_000) : now
  }

  async #pair(): Promise<{ readonly fake: Fake; readonly twin: Fake | null }> {
    if (this.#served !== null) return this.#served
    const world = { now: () => this.#now() }
    const fake = await fakeOf(this.#subject, world)
    const other = await fakeOf(this.#subject, world)
    const pair = { fake, twin: isSame(fake, other) ? null : other }
    if (isAtUrl(fake)) this.#served = pair
    else await fake.reset?.()
    return pair
  }
}

function isSame(fake: Fake, other: Fake): boolean {
  return fake === other || (isAtUrl(fake) && isAtUrl(other) && fake.url === other.url)
}
