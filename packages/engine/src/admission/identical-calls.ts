/**
 * Identical calls that run side by side in one turn of a model, where the application says that each of them is an action (ID-10).
 *
 * Owns: the place of each among those that run now. The first has the run's plain key, so a call that follows, or comes in another
 * turn, or is made again after a restart of the turn, names the same actions in the same order.
 */
import { canonicalJson, type Sha256 } from "@invokejs/protocol"

export class IdenticalCalls {
  readonly #running = new Map<string, Set<number>>()

  /** The lowest place that no running call of this name has. */
  take(name: string): { readonly place: number; readonly leave: () => void } {
    const taken = this.#running.get(name) ?? new Set<number>()
    this.#running.set(name, taken)
    let place = 1
    while (taken.has(place)) place += 1
    taken.add(place)
    return {
      place,
      leave: () => {
        taken.delete(place)
        if (taken.size === 0) this.#running.delete(name)
      },
    }
  }
}

export function placedKey(key: string, turn_id: string, place: number, sha256: Sha256): string {
  return place === 1 ? key : `r:${sha256(canonicalJson(["invoke-turn-key-1", key, turn_id, place]))}`
}
