/**
 * What a person may do about an operation now, each with the command that does it.
 *
 * NV1. A verb is offered only where `transition()` would take it: the table says where it may, the function says that it does.
 */
import { transition, VERBS, verbsFrom, type Operation, type OperationEvent, type Verb } from "@invokejs/protocol"

export interface NextVerb {
  readonly verb: Verb
  readonly does: string
  readonly command: string
}

/** A verb with the event that shows whether it is legal now (null: the table alone decides), and its options. */
const COMMANDS: {
  readonly [V in Verb]?: { event(operation: Operation): OperationEvent | null; options(operation: Operation): string }
} = {
  allow: { event: () => ({ type: "allow", reason: "?" }), options: () => "--reason TEXT" },
  cancel: { event: () => ({ type: "cancel", reason: "?" }), options: () => "" },
  resolve: {
    event: () => ({ type: "resolve", evidence_id: "?", resolve: { to: "closed_unknown", reason: "?", evidence: {} } }),
    options: ({ version }) => `--to succeeded --reason TEXT --evidence NAME=VALUE --expected-version ${version}`,
  },
  retry: {
    event: (operation) => ({
      type: "retry",
      after_attempt: lastAttempt(operation),
      deadline_at: Number.MAX_SAFE_INTEGER,
      automatic: false,
    }),
    options: (operation) => `--after-attempt ${lastAttempt(operation)} --tools FILE.js`,
  },
  supersede: {
    event: () => ({ type: "superseded", by: "?" }),
    options: ({ version }) => `--params JSON --expected-version ${version} --tools FILE.js`,
  },
  repeat: { event: () => null, options: () => "--reason TEXT --tools FILE.js" },
  reconcile: { event: () => ({ type: "reconcile" }), options: () => "" },
  amend: {
    event: ({ state, contradicted }) => ({
      type: "amend",
      to: contradicted || state !== "succeeded" ? "succeeded" : "undone",
      reason: "?",
    }),
    options: () => "--to succeeded --reason TEXT",
  },
}

export function nextVerbs(operation: Operation, now: number, journal: string): readonly NextVerb[] {
  return verbsFrom(operation.state).flatMap((verb) => {
    const command = COMMANDS[verb]
    if (!command) return []
    const event = command.event(operation)
    if (event !== null && !transition(operation, event, { now, unit: 0, actor: "operator" }).ok) return []
    const words = ["invoke ops", verb, operation.operation_id, command.options(operation), "--journal", journal]
    return [{ verb, does: VERBS[verb].does, command: words.filter((word) => word !== "").join(" ") }]
  })
}

function lastAttempt(operation: Operation): number {
  return operation.attempts.at(-1)?.attempt ?? 0
}
