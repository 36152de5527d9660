/**
 * What a model is told: one template for each row of the result table, our own words only.
 *
 * Owns: the words. Adapters and the gateway pass them on and compose nothing.
 * Must not: repeat what a provider, a tool, an operator or a model wrote: such text can carry instructions.
 *
 * AT1. What is known, what not to do, what to do; in this order.
 * AT2. Rows that are not settled never say "failed" or "try again", and name a retry only to forbid it.
 * AT3. Only ids, counts and times of ours are filled in.
 */
import type { PlanChange, RowId } from "./result-table.ts"

export interface AgentTextFacts {
  readonly operation_id: string
  /** ISO 8601, where a time is known. */
  readonly next_check_at: string | null
  /** The operation that holds the intent slot. */
  readonly held_by: string | null
  readonly superseded_by: string | null
  readonly compensated_by: string | null
}

type Template = (facts: AgentTextFacts) => string

const holder = (facts: AgentTextFacts) => (facts.held_by === null ? "another operation" : `operation ${facts.held_by}`)
const known = (facts: AgentTextFacts) => `It is operation ${facts.operation_id}.`
const checked = (facts: AgentTextFacts) =>
  facts.next_check_at === null ? "" : ` It is looked at next at ${facts.next_check_at}.`

const TEMPLATES: { readonly [R in RowId]: Template } = {
  held: (facts) =>
    facts.held_by === null
      ? `The effect of this action may be there already, so it is held and nothing was sent for it. Do not call it in another ` +
        `form. A person must look at it. ${known(facts)}`
      : `This action may be a duplicate of ${holder(facts)}, so it is held and nothing was sent for it. Do not call it in another ` +
        `form. Wait: it is judged afresh when that one is settled. ${known(facts)}`,
  awaiting_approval: (facts) =>
    `This action waits for a person's approval. Do not call it again and do not look for another way. Go on with other work ` +
    `or tell the user that it waits. ${known(facts)}`,
  refused: (facts) =>
    `This action was refused before anything was sent: nothing happened. Do not repeat it as it is. Make another plan, or ask ` +
    `a person. ${known(facts)}`,
  refused_duplicate: (facts) =>
    `This action looks like a duplicate of ${holder(facts)}, so it was refused and nothing was sent for it. Do not call it in ` +
    `another form. If it is meant to happen once more, a person must say so. ${known(facts)}`,
  denied: (facts) =>
    `A person denied this action: nothing was sent. Do not ask for the same action again. Make another plan. ${known(facts)}`,
  expired: (facts) =>
    `The time for this action is over and nothing was sent. Make another plan if it is still wanted. ${known(facts)}`,
  cancelled: (facts) =>
    `This action was cancelled before anything was sent. Do not bring it back by yourself. Make another plan. ${known(facts)}`,
  replan_unsent: (facts) =>
    `What this action rested on has changed, so nothing was sent. Read the present state, then make another plan. ${known(facts)}`,
  replan_disproved: (facts) =>
    `What this action rested on has changed. It is proved that no attempt took effect. Read the present state, then make ` +
    `another plan. ${known(facts)}`,
  in_progress: (facts) =>
    `This action is being carried out. Do not call it again in any form. Wait for its result. ${known(facts)}`,
  accepted: (facts) =>
    `The other system took this action and has not finished it. Do not call it again in any form. Wait until it is settled.` +
    `${checked(facts)} ${known(facts)}`,
  unknown: (facts) =>
    `It is not known whether this action took effect; it may have. Do not call it again in any form, and do not report it as ` +
    `done or as not done. Wait: it is being found out.${checked(facts)} ${known(facts)}`,
  unknown_quarantined: (facts) =>
    `It is not known whether this action took effect, and nothing is sent until an operator has looked. Do not call it again ` +
    `in any form. Tell a person. ${known(facts)}`,
  needs_review: (facts) =>
    `It is not known whether this action took effect, and it could not be found out. Do not call it again in any form. A ` +
    `person must settle it. ${known(facts)}`,
  needs_review_accepted: (facts) =>
    `The other system took this action, and it is not known how it ended. Do not call it again in any form. A person must ` +
    `settle it. ${known(facts)}`,
  needs_review_diverged: (facts) =>
    `Something was done, and it differs from what was asked for. Do not call it again and do not correct it by yourself: that ` +
    `could do it twice. A person must look at it. ${known(facts)}`,
  succeeded: (facts) => `This action is done. Do not call it again. ${known(facts)}`,
  reconciled: (facts) =>
    `This action is done: its effect was found to be in place. Do not call it again. ${known(facts)}`,
  replayed: (facts) =>
    `This action was done before; this is its stored result and nothing was sent now. Do not call it again. ${known(facts)}`,
  undone: (facts) =>
    `This action took effect and was undone since${facts.compensated_by === null ? "" : ` by operation ${facts.compensated_by}`}. ` +
    `Do not take its effect as in place. Make another plan if it is still wanted. ${known(facts)}`,
  failed: (facts) =>
    `This action failed for good: it is proved that it did not take effect, and the same request would be refused again. Change ` +
    `the plan. ${known(facts)}`,
  not_applied: (facts) =>
    `It is proved that this action did not take effect. Do not start it under another name. It may be retried as the same ` +
    `operation. ${known(facts)}`,
  not_applied_spent: (facts) =>
    `It is proved that this action did not take effect, and its attempts or its time are used up. Do not start it under another ` +
    `name. Make another plan. ${known(facts)}`,
  closed_unknown: (facts) =>
    `Nobody could find out whether this action took effect; a person closed it without an answer. Do not call it again in any ` +
    `form. If it matters, ask a person. ${known(facts)}`,
  contradicted: (facts) =>
    `There are two contradicting accounts of this action. Do not call it again in any form and do not rely on its earlier ` +
    `result. A person must settle it. ${known(facts)}`,
}

export function agentText(row: RowId, change: PlanChange, facts: AgentTextFacts): string {
  const text = TEMPLATES[row](facts)
  if (change === "superseded") {
    const by = facts.superseded_by === null ? "a newer operation" : `operation ${facts.superseded_by}`
    return `${text} It was replaced by ${by}: read that one, and start nothing for this one.`
  }
  if (change === "needs_right") {
    return `${text} You may not start it yourself: somebody who has the right to must do it.`
  }
  return text
}
