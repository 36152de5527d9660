/** Things of which a provider knows one state each: set by us and by others, read a little late. */
import type { ResourceWrite } from "../history.ts"
import type { Scheduler } from "../scheduler.ts"
import type { SeededRandom } from "../seeded-random.ts"

interface Version extends ResourceWrite {
  readonly visible_at: number
}

export class SimResources {
  readonly #scheduler: Scheduler
  readonly #random: SeededRandom
  readonly #visibility_ms: number
  readonly #versions = new Map<string, Version[]>()
  readonly #written: (write: ResourceWrite) => void

  constructor(
    scheduler: Scheduler,
    random: SeededRandom,
    visibility_ms: number,
    written: (write: ResourceWrite) => void,
  ) {
    this.#scheduler = scheduler
    this.#random = random
    this.#visibility_ms = visibility_ms
    this.#written = written
  }

  set(write: Omit<ResourceWrite, "at" | "version">): ResourceWrite {
    const versions = this.#versions.get(write.resource) ?? []
    const { now } = this.#scheduler
    const made = { ...write, at: now, version: versions.length + 1 }
    // A reader never sees an older state after a newer one.
    const earliest = Math.max(now, versions.at(-1)?.visible_at ?? now)
    versions.push({
      ...made,
      visible_at: Math.min(earliest + this.#random.between(0, this.#visibility_ms), now + this.#visibility_ms),
    })
    this.#versions.set(write.resource, versions)
    this.#written(made)
    return made
  }

  read(resource: string): ResourceWrite | null {
    const { now } = this.#scheduler
    return (this.#versions.get(resource) ?? []).findLast((one) => one.visible_at <= now) ?? null
  }

  /** As it is, which no reader is promised. */
  current(resource: string): ResourceWrite | null {
    return this.#versions.get(resource)?.at(-1) ?? null
  }
}
