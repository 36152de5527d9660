/** Asking an engine, and taking down what was asked and what was told: one door for callers and operators. */
import type { Result } from "@invokejs/protocol"
import type { Answer } from "../history.ts"
import type { Member, SimInvoke } from "../run/crew.ts"
import type { World } from "../run/world.ts"
import { toldAnswer, toldError } from "./told-answer.ts"

/** What anybody may be told instead of a result while the journal or the process is in trouble. */
const TROUBLE = ["journal_unavailable", "draining", "overloaded"]
/** What a call may be told: another action has its name. */
export const CALL_REFUSED = [...TROUBLE, "idempotency_key_reused"]
/** What a verb may be told: the operation is not, or no longer, where the verb begins. */
export const VERB_REFUSED = [
  ...CALL_REFUSED,
  "retry_refused",
  "supersedes_refused",
  "version_conflict",
  "illegal_transition",
  "operation_not_found",
]

/** A refusal; a commit in doubt may have been made. */
export function wasRefused(error: Answer["error"]): boolean {
  return error !== null && error.code !== "journal_unavailable"
}

export interface Question {
  readonly verb: string
  readonly tool: string
  readonly action: string
  readonly foreseen: readonly string[]
}

export class Asking {
  readonly #world: World
  /** For each question whether it was answered, and of which action it was. */
  readonly #asked: { readonly action: string; heard: boolean }[] = []

  constructor(world: World) {
    this.#world = world
  }

  /** Actions whose callers died before they heard. */
  get unanswered(): readonly string[] {
    return this.#asked.flatMap(({ action, heard }) => (heard ? [] : [action]))
  }

  /** Null: an error, or nobody is there to hear. */
  async ask(
    { process, invoke }: Member & { readonly invoke: SimInvoke },
    { verb, tool, action, foreseen }: Question,
    run: (invoke: SimInvoke) => Promise<Result>,
  ): Promise<Answer> {
    const { history, scheduler, counts } = this.#world
    const asked = { called_at: scheduler.now, process: process.name, verb, tool, action }
    const entry = { action, heard: false }
    this.#asked.push(entry)
    this.#world.note(`${process.name}: ${verb} ${tool} for ${action}`)
    const answer = await run(invoke).then(
      (result) => toldAnswer(asked, scheduler.now, result),
      (error: unknown) => toldError(asked, scheduler.now, error, foreseen),
    )
    entry.heard = true
    history.answers.push(answer)
    const said = answer.error?.code ?? answer.outcome
    counts.add(`told:${verb}:${answer.error === null || answer.error.foreseen ? said : "unforeseen"}`)
    this.#world.note(`${process.name}: ${verb} for ${action} is told ${said}`)
    return answer
  }
}
