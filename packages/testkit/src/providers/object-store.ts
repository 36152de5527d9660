/**
 * The objects of a provider with all their versions, so that a list can be asked for as it stood some time ago: that
 * is what a lagging replica or index is.
 */
import type { Change } from "./ledger-line.ts"

interface Version {
  readonly at_ms: number
  readonly object: unknown
}

interface Versioned {
  readonly created: number
  readonly versions: Version[]
}

export class ObjectStore {
  readonly #collections = new Map<string, Map<string, Versioned>>()
  #created = 0

  apply(change: Change, at_ms: number): void {
    const objects = this.#objects(change.collection)
    let entry = objects.get(change.id)
    if (entry === undefined) {
      this.#created += 1
      entry = { created: this.#created, versions: [] }
      objects.set(change.id, entry)
    }
    entry.versions.push({ at_ms, object: change.object })
  }

  collection<T>(name: string): Collection<T> {
    return new Collection<T>(this.#objects(name))
  }

  #objects(collection: string): Map<string, Versioned> {
    let objects = this.#collections.get(collection)
    if (objects === undefined) {
      objects = new Map()
      this.#collections.set(collection, objects)
    }
    return objects
  }
}

export class Collection<T> {
  readonly #objects: Map<string, Versioned>

  constructor(objects: Map<string, Versioned>) {
    this.#objects = objects
  }

  /** The object as it is now, or null when there is none or it was deleted. */
  get(id: string): T | null {
    // Only this provider's own code writes a collection, always with the one type it reads it with.
    return (this.#objects.get(id)?.versions.at(-1)?.object ?? null) as T | null
  }

  all(): T[] {
    return this.asOf(Number.POSITIVE_INFINITY)
  }

  /** The objects as a reader sees them who is so far behind; one who is not behind sees all, whatever the clock did. */
  behind(lag_ms: number, now_ms: number): T[] {
    return lag_ms === 0 ? this.all() : this.asOf(now_ms - lag_ms)
  }

  /** The objects that existed at that time, in their content of that time, newest first. */
  asOf(at_ms: number): T[] {
    const seen: T[] = []
    for (const { versions } of this.#newestFirst()) {
      const object = versions.findLast((version) => version.at_ms <= at_ms)?.object ?? null
      if (object !== null) seen.push(object as T)
    }
    return seen
  }

  /** Objects deleted after that time, in the content they had last. */
  deletedSince(at_ms: number): T[] {
    const seen: T[] = []
    for (const { versions } of this.#newestFirst()) {
      const last = versions.at(-1)
      if (last?.object !== null || last.at_ms < at_ms) continue
      const before = versions.at(-2)?.object ?? null
      if (before !== null) seen.push(before as T)
    }
    return seen
  }

  #newestFirst(): Versioned[] {
    return [...this.#objects.values()].sort((a, b) => b.created - a.created)
  }
}
