/** What happened, as the outside saw it: calls, answers, faults. The oracle reads nothing else of the engine. */
import type { Result } from "@invokejs/protocol"

export interface Told {
  readonly at: number
  readonly process: string
  readonly action: string
  readonly tool: string
  readonly result: Result | null
  /** An InvokeError's code: nothing ran, it says. */
  readonly refused: string | null
}

export interface Line {
  readonly at: number
  readonly text: string
}

export class History {
  readonly told: Told[] = []
  readonly lines: Line[] = []

  note(at: number, text: string): void {
    this.lines.push({ at, text })
  }
}
