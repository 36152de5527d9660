// One operation in every state, reached by events.

import type { Admission, State } from "@invokejs/protocol"
import { APPLIED, blind, contract, HOUR, REJECTED, Story, T0 } from "./builders.ts"

export const HELD: Admission = {
  kind: "held",
  by: "op-0",
  reason: { code: "possible_duplicate", text: "an equal action" },
}
export const ASKED: Admission = {
  kind: "awaiting_approval",
  approval_id: "ap-1",
  expires_at: T0 + HOUR,
  reason: { code: "ask", text: "policy asks" },
}
export const REFUSED: Admission = { kind: "refused", holder: null, reason: { code: "policy", text: "no" } }

export function notApplied(): Story {
  return new Story({ contract: contract({ attempts: 1 }) }).isLost().isRefuted()
}

/** Lost, and nobody can look. */
export function inReview(): Story {
  const story = new Story({ contract: blind() }).isLost()
  return story.until(story.operation.due_at).do({ type: "due" })
}

export const IN_STATE: { readonly [S in State]: () => Story } = {
  held: () => new Story({}, HELD),
  awaiting_approval: () => new Story({}, ASKED),
  ready: () => new Story(),
  dispatched: () => new Story().dispatch(),
  accepted: () => new Story().dispatch().ends(1, { class: "accepted", output: null }),
  unknown: () => new Story().isLost(),
  needs_review: inReview,
  succeeded: () => new Story().dispatch().ends(1, APPLIED),
  failed: () => new Story().dispatch().ends(1, REJECTED),
  not_applied: notApplied,
  undone: () =>
    new Story().isLost().hears({ kind: "reversed", reason: "bounced" }, { source: "webhook", rank: "signed" }),
  closed_unknown: () => inReview().resolve("closed_unknown"),
  refused: () => new Story({}, REFUSED),
  denied: () => new Story({}, ASKED).do({ type: "deny", reason: "no" }),
  expired: () => new Story({}, ASKED).wait(HOUR).do({ type: "due" }),
  cancelled: () => new Story().do({ type: "cancel", reason: "no longer wanted" }),
  replan: () => new Story().do({ type: "drifted", reason: { code: "drift", text: "the account changed" } }),
}
