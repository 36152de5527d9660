/**
 * What a person may do about an operation now, each with the command that does it.
 *
 * NV1. A verb is offered only where `transition()` would take it: the table says where it may, the function says that it does.
 */
import { transition, VERBS, verbsFrom, type Operation, type OperationEvent, type Verb } from "@invokejs/protocol"
import type { JournalFlag } from "./define-command.ts"
import { shownCommand } from "./shown-command.ts"

export interface NextVerb {
  readonly verb: Verb
  readonly does: string
  readonly command: string
}

interface Offer {
  /** The event that shows whether the verb is legal now; null: the table alone decides. */
  readonly event: (operation: Operation) => OperationEvent | null
  readonly options: (operation: Operation) => readonly (string | number)[]
}

const OFFERS: { readonly [V in Verb]?: Offer } = {
  allow: { event: () => ({ type: "allow", reason: "?" }), options: () => ["--reason", "TEXT"] },
  cancel: { event: () => ({ type: "cancel", reason: "?" }), options: () => [] },
  resolve: {
    event: () => ({ type: "resolve", evidence_id: "?", resolve: { to: "closed_unknown", reason: "?", evidence: {} } }),
    options: ({ version }) => [
      ...["--to", "succeeded", "--reason", "TEXT", "--evidence", "NAME=VALUE", "--expected-version", version],
    ],
  },
  retry: {
    event: (operation) => ({
      type: "retry",
      after_attempt: lastAttempt(operation),
      deadline_at: Number.MAX_SAFE_INTEGER,
      automatic: false,
    }),
    options: (operation) => ["--after-attempt", lastAttempt(operation), "--tools", "FILE.js"],
  },
  supersede: {
    event: () => ({ type: "superseded", by: "?" }),
    options: ({ version }) => ["--params", "JSON", "--expected-version", version, "--tools", "FILE.js"],
  },
  repeat: { event: () => null, options: () => ["--reason", "TEXT", "--tools", "FILE.js"] },
  reconcile: { event: () => ({ type: "reconcile" }), options: () => [] },
  amend: {
    event: (operation) => ({ type: "amend", to: otherTruth(operation), reason: "?" }),
    options: (operation) => ["--to", otherTruth(operation), "--reason", "TEXT"],
  },
}

export function nextVerbs(operation: Operation, now: number, flags: JournalFlag): readonly NextVerb[] {
  return verbsFrom(operation.state).flatMap((verb) => {
    const offer = OFFERS[verb]
    if (!offer) return []
    const event = offer.event(operation)
    if (event !== null && !transition(operation, event, { now, unit: 0, actor: "operator" }).ok) return []
    const command = shownCommand(["ops", verb, operation.operation_id, ...offer.options(operation)], flags)
    return [{ verb, does: VERBS[verb].does, command }]
  })
}

function otherTruth({ state }: Operation): "succeeded" | "undone" {
  return state === "succeeded" ? "undone" : "succeeded"
}

function lastAttempt(operation: Operation): number {
  return operation.attempts.at(-1)?.attempt ?? 0
}
