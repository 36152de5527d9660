/**
 * What a call is, given what the journal knows: a new action, or a name for one that exists (protocol §2).
 *
 * Owns: the decision. Pure, but for parsing stored parameters with today's schema, which is passed in.
 *
 * AD1. A key is compared with tool and parameters, never looked up by them.
 * AD2. A duplicate of an unresolved operation joins it; of a settled one, replays it; nobody is promoted to dispatcher.
 * AD3. A refusal of a possible duplicate is not replayed once the slot is free: the same call opens the next revision.
 * AD4. A `state` operation is replayed only while it is the last admitted write of its resource.
 */
import {
  DEFAULTS,
  differingFields,
  fillsSlot,
  isTerminal,
  type Admission,
  type Json,
  type Operation,
} from "@invokejs/protocol"
import type { AdmissionView } from "../ports/journal.ts"
import type { CallRequest } from "./call-request.ts"

export type Decision =
  | {
      readonly kind: "admit"
      readonly chain: string
      readonly revision: number
      readonly admission: Admission
      readonly take_slot: boolean
    }
  | { readonly kind: "join"; readonly operation: Operation }
  | { readonly kind: "replay"; readonly operation: Operation }
  | { readonly kind: "retry"; readonly operation: Operation }
  | { readonly kind: "older"; readonly chain: string; readonly head: Operation }
  | { readonly kind: "reused"; readonly holder: Operation; readonly fields: readonly string[]; readonly why: string }

export type SameParams = (stored: Json) => Promise<boolean>

/** How an admission that is asked for by a verb differs from a plain call. */
export interface Special {
  /** Admits the next revision of this operation's chain with changed parameters. */
  readonly supersedes?: Operation
  /** A deliberate repeat: takes the slot from this operation. */
  readonly repeats?: Operation
}

export async function decideAdmission(
  request: CallRequest,
  view: AdmissionView,
  sameParams: SameParams,
  special: Special = {},
): Promise<Decision> {
  const chains = [...new Set(request.keys.flatMap((key) => view.chains[key] ?? []))]
  const chain = chains[0] ?? request.keys[0] ?? ""
  const head = view.heads[chain]
  if (chains.length > 1) {
    const other = view.heads[chains[1] ?? ""] ?? head
    if (other) return { kind: "reused", holder: other, fields: [], why: "its names belong to two different actions" }
  }
  if (!head) return fresh(request, view, chain, 1, special)
  if (special.supersedes) {
    return special.supersedes.operation_id === head.operation_id
      ? fresh(request, view, chain, head.revision + 1, special)
      : { kind: "reused", holder: head, fields: [], why: "a newer revision exists" }
  }
  if (head.namespace !== request.tool.namespace) {
    return { kind: "reused", holder: head, fields: ["tool"], why: "the key names an action of another tool" }
  }
  if (head.fingerprint !== request.fingerprint && !(await sameParams(head.params))) {
    if (head.revision > 1) return { kind: "older", chain, head }
    return {
      kind: "reused",
      holder: head,
      fields: differingFields(head.params, request.params),
      why: "the parameters differ",
    }
  }
  return known(request, view, chain, head)
}

function known(request: CallRequest, view: AdmissionView, chain: string, head: Operation): Decision {
  if (!isTerminal(head.state)) return { kind: "join", operation: head }
  if (head.contradicted || head.superseded_by !== null) return { kind: "replay", operation: head }
  if (head.state === "succeeded" && !head.compensation_settled && overwritten(request, view, head)) {
    return fresh(request, view, chain, head.revision + 1, {})
  }
  if (head.state === "refused" && refusalPassed(request, head) && slotOf(request, view, {}).kind === "ready") {
    return fresh(request, view, chain, head.revision + 1, {})
  }
  if (request.retry_on_repeat && mayRetryByItself(head)) return { kind: "retry", operation: head }
  return { kind: "replay", operation: head }
}

/** AD3, and its kin: a refusal is replayed only while its cause lasts. */
function refusalPassed(request: CallRequest, head: Operation): boolean {
  const code = head.reason?.code
  if (code === "second_effect") return head.tool_version !== request.tool.version
  return code === "possible_duplicate" || code === "overwritten"
}

/**
 * AD5. Whether calling again is a retry (item 15): nothing forbade it, attempts are left, and the parameters are still there. A
 * person's cancel and a spent budget are undone by a verb, never by calling again.
 */
function mayRetryByItself(head: Operation): boolean {
  if (head.state !== "not_applied" || head.output_purged || head.retries >= DEFAULTS.retries) return false
  if (FORBIDDEN.includes(head.reason?.code ?? "")) return false
  return head.attempts.filter((one) => one.left).length < head.attempts_max
}

const FORBIDDEN: readonly string[] = ["cancelled", "denied", "approval_over", "overwritten", "second_effect"]

/** AD4: somebody else's write was admitted after ours. */
function overwritten(request: CallRequest, view: AdmissionView, head: Operation): boolean {
  if (head.contract.lookup?.correlates !== "state" || request.resource === null) return false
  return view.resource_writer !== null && view.resource_writer !== head.operation_id
}

function fresh(request: CallRequest, view: AdmissionView, chain: string, revision: number, special: Special): Decision {
  const admission = slotOf(request, view, special)
  return {
    kind: "admit",
    chain,
    revision,
    admission,
    take_slot: request.intent_digest !== null && admission.kind === "ready",
  }
}

/** The near-duplicate guard (ID-8). */
function slotOf(request: CallRequest, view: AdmissionView, special: Special): Admission {
  const { holder } = view
  if (request.intent_digest === null || !holder) return { kind: "ready" }
  if (special.repeats?.operation_id === holder.operation_id) return { kind: "ready" }
  if (special.supersedes?.operation_id === holder.operation_id) return { kind: "ready" }
  if (!fillsSlot(holder, view.now, request.tool.repeat_window_ms)) return { kind: "ready" }
  const sameChain = request.keys.some((key) => view.chains[key] === holder.key)
  if (sameChain) return { kind: "ready" }
  const settled = isTerminal(holder.state)
  return settled
    ? {
        kind: "refused",
        holder: holder.operation_id,
        reason: { code: "possible_duplicate", text: `an equal action is settled: ${holder.operation_id}` },
      }
    : {
        kind: "held",
        by: holder.operation_id,
        reason: { code: "possible_duplicate", text: `an equal action is not settled yet: ${holder.operation_id}` },
      }
}
