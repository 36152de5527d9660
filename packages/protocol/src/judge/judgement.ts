/** A verdict with its reason; the shapes that the parts of `judge()` hand to each other. */
import type { Candidate, Cause, Verdict } from "../evidence.ts"
import type { Reason } from "../operation.ts"

export interface Judgement {
  readonly verdict: Verdict
  readonly reason: Reason
  readonly cause: Cause | null
  readonly candidate: Candidate | null
}

export function inconclusive(reason: Reason | undefined): Judgement {
  return {
    verdict: "inconclusive",
    reason: reason ?? { code: "no_look", text: "no look has been answered yet" },
    cause: null,
    candidate: null,
  }
}

export function diverged(code: string, text: string, candidate: Candidate | null | undefined = null): Judgement {
  return { verdict: "diverged", reason: { code, text }, cause: null, candidate: candidate ?? null }
}
