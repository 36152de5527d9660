/** Which calls of tools run, and in which process: what a person who looks after the processes can know. */
import type { History } from "../history.ts"
import type { SimProcess } from "../world/sim-process.ts"

export class Executions {
  readonly #history: History
  readonly #running = new Map<string, { readonly process: SimProcess; readonly since: number }>()

  constructor(history: History) {
    this.#history = history
  }

  async during<T>(
    about: {
      readonly process: SimProcess
      readonly at: number
      readonly operation_id: string
      readonly attempt: number
    },
    run: () => Promise<T>,
  ): Promise<T> {
    const { process, at, operation_id, attempt } = about
    const name = `${operation_id}#${attempt}`
    this.#history.started.push({ at, operation_id, attempt })
    this.#running.set(name, { process, since: at })
    try {
      return await run()
    } finally {
      this.#running.delete(name)
    }
  }

  /** Where that attempt still runs, if it does. */
  of(operation_id: string, attempt: number): { readonly process: SimProcess; readonly since: number } | null {
    const running = this.#running.get(`${operation_id}#${attempt}`)
    return running && running.process.state !== "dead" ? running : null
  }
}
