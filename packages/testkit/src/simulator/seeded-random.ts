/**
 * Randomness from a seed: one seed, one run.
 *
 * SR1. What is drawn under a name depends on the seed and the name alone: who takes a call out of a plan, as the shrinker does,
 *      changes nothing of what others draw.
 */
export class SeededRandom {
  readonly #seed: number
  #state: number

  constructor(seed: number) {
    this.#seed = seed >>> 0
    this.#state = (seed ^ 0x9e3779b9) >>> 0
    for (let turn = 0; turn < 8; turn += 1) this.unit()
  }

  named(name: string): SeededRandom {
    let hash = 0x811c9dc5
    for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
    return new SeededRandom((Math.imul(this.#seed, 0x85ebca6b) ^ hash) >>> 0)
  }

  /** Uniform in [0, 1). Mulberry32. */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  /** Whole number in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1))
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.unit() * items.length)]
    if (item === undefined) throw new Error("there is nothing to pick from")
    return item
  }
}
