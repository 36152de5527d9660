/** The attempts whose promises this process still holds, so that closing can wait for them (CS-6). */
export class RunningAttempts {
  readonly #running = new Map<string, Promise<void>>()

  add(operation_id: string, attempt: number, ended: Promise<void>): void {
    const key = `${operation_id}#${attempt}`
    this.#running.set(key, ended)
    void ended.finally(() => this.#running.delete(key))
  }

  has(operation_id: string): boolean {
    for (const key of this.#running.keys()) if (key.startsWith(`${operation_id}#`)) return true
    return false
  }

  get size(): number {
    return this.#running.size
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }
}
