/** A provider's clock: the machine's, moved by an offset that tests set. The only reading of the wall clock here. */
export class ProviderClock {
  #offset_ms = 0

  /** Moves the clock; keys expire, lags pass and charges settle as if the time had gone by. */
  move(offset_ms: number): void {
    this.#offset_ms = offset_ms
  }

  now_ms(): number {
    return Date.now() + this.#offset_ms
  }
}
