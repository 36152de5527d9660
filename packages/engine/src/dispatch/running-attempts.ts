/** The attempts whose promises this process still holds, so that closing can wait for them (CS-6). */
export class RunningAttempts {
  readonly #running = new Map<string, Promise<void>>()
  readonly #unrecorded = new Set<string>()

  add(operation_id: string, attempt: number, ended: Promise<void>): void {
    const key = `${operation_id}#${attempt}`
    this.#running.set(key, ended)
    void ended.finally(() => {
      this.#running.delete(key)
      this.#unrecorded.delete(key)
    })
  }

  has(operation_id: string): boolean {
    return anyOf(this.#running.keys(), operation_id)
  }

  /** Its promise ended, and the journal could not take the outcome yet. */
  unrecorded(operation_id: string, attempt: number): void {
    this.#unrecorded.add(`${operation_id}#${attempt}`)
  }

  isUnrecorded(operation_id: string): boolean {
    return anyOf(this.#unrecorded, operation_id)
  }

  get size(): number {
    return this.#running.size
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }
}

function anyOf(keys: Iterable<string>, operation_id: string): boolean {
  for (const key of keys) if (key.startsWith(`${operation_id}#`)) return true
  return false
}
