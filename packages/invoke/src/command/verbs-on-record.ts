/** `invoke ops cancel | resolve | amend`: what a person puts on record. It takes effect at once, and nothing is sent. */
import type { Operator } from "@invokejs/engine"
import { VERBS, type Result, type Verb } from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type Answer, type JournalFlag, type Run } from "./define-command.ts"
import { ACTOR_FLAG, actorOf, pair, wholeNumber, type ActorFlag } from "./flags.ts"
import { readWorkers } from "./live-workers.ts"
import { withInvoke } from "./session.ts"
import { answerOf, readOperation, resultOf } from "./tell-operation.ts"
import { usage } from "./usage.ts"

interface RecordFlags extends JournalFlag, ActorFlag {
  readonly expectedVersion?: number
}

export const EXPECTED_VERSION = {
  kind: "parsed",
  parse: wholeNumber(1),
  brief: "Refuse where the operation has moved since this version",
  placeholder: "N",
  optional: true,
} as const

/** The verb's line of the one table, as a sentence. */
export function sayVerb(verb: Verb): string {
  const { does } = VERBS[verb]
  return `${does.charAt(0).toUpperCase()}${does.slice(1)}`
}

export const OPERATION_ID = { brief: "Id of the operation", parse: filled, placeholder: "ID" } as const

async function record(
  run: Run,
  flags: RecordFlags,
  id: string,
  verb: (operator: Operator) => Promise<Result>,
): Promise<Answer> {
  return withInvoke(run, flags, {}, async ({ journal, invoke }) => {
    await readOperation(journal, id)
    await verb(invoke.operator({ name: actorOf(run.world, flags) }))
    return answerOf(await resultOf(journal, await readOperation(journal, id), await readWorkers(journal)))
  })
}

interface CancelFlags extends RecordFlags {
  readonly reason?: string
}

export const opsCancelCommand = defineCommand<CancelFlags, [id: string]>({
  brief: sayVerb("cancel"),
  details:
    "An operation that was dispatched is not cancelled: what may have happened cannot be made not to have happened.",
  flags: {
    ...JOURNAL_FLAG,
    ...ACTOR_FLAG,
    expectedVersion: EXPECTED_VERSION,
    reason: { kind: "parsed", parse: filled, brief: "Why, for the record", placeholder: "TEXT", optional: true },
  },
  positional: [OPERATION_ID],
  run: (run, flags, id) =>
    record(run, flags, id, (operator) =>
      operator.cancel(id, {
        ...expected(flags),
        ...(flags.reason === undefined ? {} : { reason: flags.reason }),
      }),
    ),
})

interface ResolveFlags extends RecordFlags {
  readonly to: (typeof VERBS.resolve.to)[number]
  readonly reason: string
  readonly evidence?: readonly (readonly [string, string])[]
  readonly objectId?: string
  readonly processGone: boolean
}

export const opsResolveCommand = defineCommand<ResolveFlags, [id: string]>({
  brief: sayVerb("resolve"),
  details:
    "Every outcome but closed_unknown needs evidence: what you saw, where. closed_unknown closes it without an answer and " +
    "permits no retry.",
  flags: {
    ...JOURNAL_FLAG,
    ...ACTOR_FLAG,
    expectedVersion: EXPECTED_VERSION,
    to: { kind: "enum", values: VERBS.resolve.to, brief: "What is true", placeholder: "OUTCOME" },
    reason: { kind: "parsed", parse: filled, brief: "Why, for the record", placeholder: "TEXT" },
    evidence: {
      kind: "parsed",
      parse: pair("="),
      brief: "What you saw, such as ticket=SUP-1182; may be given again",
      placeholder: "NAME=VALUE",
      variadic: true,
      optional: true,
    },
    objectId: {
      kind: "parsed",
      parse: filled,
      brief: "The provider's id of the object you saw",
      placeholder: "ID",
      optional: true,
    },
    processGone: {
      kind: "boolean",
      brief: "Your word that the process of an open attempt is gone",
      withNegated: false,
    },
  },
  positional: [OPERATION_ID],
  async run(run, flags, id) {
    const { to, reason, objectId, processGone } = flags
    const evidence = flags.evidence ?? []
    const twice = evidence.find(([name], index) => evidence.findIndex(([other]) => other === name) !== index)
    if (twice) throw usage(`--evidence ${twice[0]} is given twice; give each fact a name of its own`, "evidence")
    return record(run, flags, id, (operator) =>
      operator.resolve(id, {
        to,
        reason,
        evidence: Object.fromEntries(evidence),
        ...expected(flags),
        ...(objectId === undefined ? {} : { object: { object_id: objectId, state: {} } }),
        ...(processGone ? { process_gone: true } : {}),
      }),
    )
  },
})

interface AmendFlags extends RecordFlags {
  readonly to: (typeof VERBS.amend.to)[number]
  readonly reason: string
}

export const opsAmendCommand = defineCommand<AmendFlags, [id: string]>({
  brief: sayVerb("amend"),
  flags: {
    ...JOURNAL_FLAG,
    ...ACTOR_FLAG,
    expectedVersion: EXPECTED_VERSION,
    to: { kind: "enum", values: VERBS.amend.to, brief: "What is true", placeholder: "OUTCOME" },
    reason: { kind: "parsed", parse: filled, brief: "Why, for the record", placeholder: "TEXT" },
  },
  positional: [OPERATION_ID],
  run: (run, flags, id) =>
    record(run, flags, id, (operator) =>
      operator.amend(id, { to: flags.to, reason: flags.reason, ...expected(flags) }),
    ),
})

function expected({ expectedVersion }: RecordFlags): { readonly expectedVersion?: number } {
  return expectedVersion === undefined ? {} : { expectedVersion }
}
