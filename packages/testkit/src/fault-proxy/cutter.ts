/** Lets bytes through up to the place of a cut, also when a marker is split between two packets. */
import type { CutPlace } from "./fault.ts"

export class Cutter {
  readonly #place: CutPlace
  readonly #marker: Buffer | null
  #passed = 0
  #kept: Buffer = Buffer.alloc(0)

  constructor(place: CutPlace) {
    this.#place = place
    const marker = "after_marker" in place ? place.after_marker : "before_marker" in place ? place.before_marker : null
    this.#marker = marker === null ? null : Buffer.from(marker)
  }

  /** What may pass, and whether the cut is now. */
  feed(chunk: Buffer): { readonly pass: Buffer; readonly cut: boolean } {
    if ("after_bytes" in this.#place) {
      const pass = chunk.subarray(0, Math.max(0, this.#place.after_bytes - this.#passed))
      this.#passed += pass.length
      return { pass, cut: this.#passed >= this.#place.after_bytes }
    }
    if (this.#marker === null) return { pass: chunk, cut: false }
    const seen = Buffer.concat([this.#kept, chunk])
    const found = seen.indexOf(this.#marker)
    if (found >= 0) {
      const end = "after_marker" in this.#place ? found + this.#marker.length : found
      return { pass: seen.subarray(0, end), cut: true }
    }
    const keep = Math.min(seen.length, this.#marker.length - 1)
    this.#kept = seen.subarray(seen.length - keep)
    return { pass: seen.subarray(0, seen.length - keep), cut: false }
  }

  /** The bytes that were kept back in case they began the marker. */
  rest(): Buffer {
    const kept = this.#kept
    this.#kept = Buffer.alloc(0)
    return kept
  }
}
