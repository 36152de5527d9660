/**
 * `invoke ops allow | retry | supersede | repeat | reconcile`: verbs after which something is sent or asked.
 *
 * VA1. A process that has the tool does it: this one with `--tools`, else a live worker of the journal. Who that is, or that
 *      there is none, is said.
 */
import type { AnyTool, Operator } from "@invokejs/engine"
import { InvokeError, isTerminal, VERBS, type Operation, type Result, type State } from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type Answer, type JournalFlag, type Run } from "./define-command.ts"
import { ACTOR_FLAG, actorOf, TOOL_FLAGS, waitOf, wholeNumber, type ActorFlag, type ToolFlags } from "./flags.ts"
import { readWorkers, waitingForTool, whoCarriesOn, workersWith } from "./live-workers.ts"
import { loadTools, requireTool } from "./load-tools.ts"
import { readParams } from "./read-params.ts"
import { withInvoke } from "./session.ts"
import { answerOf, readOperation, resultOf } from "./tell-operation.ts"
import { EXPECTED_VERSION, OPERATION_ID, sayVerb } from "./verbs-on-record.ts"
import { answerable, waitFor } from "./wait-for.ts"

interface ActFlags extends JournalFlag, ActorFlag, ToolFlags {}

interface Act {
  readonly id: string
  readonly verb: (operator: Operator, operation: Operation) => Promise<Result>
  /** Whether what was waited for has come, given the operation as it was right after the verb. */
  readonly enough?: (after: Operation) => (operation: Operation) => boolean
}

/** Does the verb, waits as long as is wished, and says who carries it on. */
async function act(run: Run, flags: ActFlags, { id, verb, enough = () => answerable }: Act): Promise<Answer> {
  const tools = await toolsOf(run, flags)
  return withInvoke(run, flags, { tools }, async ({ journal, invoke }) => {
    const before = await readOperation(journal, id)
    if (flags.tools !== undefined) requireTool(tools, before, flags.tools)
    await verb(invoke.operator({ name: actorOf(run.world, flags) }), before)
    const after = await readOperation(journal, id)
    const operation = await waitFor(run, journal, id, { wait_ms: waitOf(flags), enough: enough(before) })
    const workers = await readWorkers(journal)
    const result = await resultOf(journal, operation, workers)
    const answer = answerOf(result, (page) => {
      if (isTerminal(operation.state) || operation.version > after.version) return
      page.line()
      page.say(whoCarriesOn(workers, operation))
    })
    return {
      ...answer,
      json: {
        ...result,
        waiting_for_tool: waitingForTool(workers, operation),
        workers: workersWith(workers, operation).map(({ worker_id }) => worker_id),
      },
    }
  })
}

async function toolsOf(run: Run, flags: ToolFlags): Promise<readonly AnyTool[]> {
  return flags.tools === undefined ? [] : loadTools(run, flags.tools)
}

interface ReasonFlags extends ActFlags {
  readonly reason: string
}

const REASON = { kind: "parsed", parse: filled, brief: "Why, for the record", placeholder: "TEXT" } as const

interface AllowFlags extends ReasonFlags {
  readonly expectedVersion?: number
}

export const opsAllowCommand = defineCommand<AllowFlags, [id: string]>({
  brief: sayVerb("allow"),
  effect: true,
  flags: { ...JOURNAL_FLAG, ...ACTOR_FLAG, ...TOOL_FLAGS, reason: REASON, expectedVersion: EXPECTED_VERSION },
  positional: [OPERATION_ID],
  run: (run, flags, id) =>
    act(run, flags, {
      id,
      verb: (operator) =>
        operator.allow(id, {
          reason: flags.reason,
          ...(flags.expectedVersion === undefined ? {} : { expectedVersion: flags.expectedVersion }),
        }),
    }),
})

interface RetryFlags extends ActFlags {
  readonly afterAttempt: number
}

export const opsRetryCommand = defineCommand<RetryFlags, [id: string]>({
  brief: sayVerb("retry"),
  details: "--after-attempt names the attempt you saw last, so that two people do not retry twice.",
  effect: true,
  flags: {
    ...JOURNAL_FLAG,
    ...ACTOR_FLAG,
    ...TOOL_FLAGS,
    afterAttempt: {
      kind: "parsed",
      parse: wholeNumber(0),
      brief: "Number of the last attempt, as `invoke ops show` says",
      placeholder: "N",
    },
  },
  positional: [OPERATION_ID],
  run: (run, flags, id) =>
    act(run, flags, { id, verb: (operator) => operator.retry(id, { afterAttempt: flags.afterAttempt }) }),
})

export const opsReconcileCommand = defineCommand<ActFlags, [id: string]>({
  brief: sayVerb("reconcile"),
  details:
    "With --tools this process looks. Without, the look is made due, and what is printed says which process will look, or " +
    "that no live one has the tool.",
  flags: { ...JOURNAL_FLAG, ...ACTOR_FLAG, ...TOOL_FLAGS },
  positional: [OPERATION_ID],
  run: (run, flags, id) =>
    act(run, flags, {
      id,
      verb: (operator) => operator.reconcile(id),
      enough: (before) => (operation) => isTerminal(operation.state) || lookedSince(before, operation),
    }),
})

/** A look was answered, or was tried and not answered. */
function lookedSince(before: Operation, operation: Operation): boolean {
  const { probes } = operation
  return probes.lease === null && probes.answered + probes.failed > before.probes.answered + before.probes.failed
}

/** The two verbs that make a new operation need the tool here and now: its parameters are named and checked by it. */
interface NewFlags extends JournalFlag, ActorFlag {
  readonly tools: string
  readonly wait?: number
}

const NEW_FLAGS = {
  ...JOURNAL_FLAG,
  ...ACTOR_FLAG,
  tools: { kind: "parsed", parse: filled, brief: "Module that exports `tools`", placeholder: "FILE.js" },
  wait: TOOL_FLAGS.wait,
} as const

async function make(
  run: Run,
  flags: NewFlags,
  id: string,
  verb: (operator: Operator, of: Operation) => Promise<Result>,
): Promise<Answer> {
  const tools = await toolsOf(run, flags)
  return withInvoke(run, flags, { tools }, async ({ journal, invoke }) => {
    const of = await readOperation(journal, id)
    requireTool(tools, of, flags.tools)
    return answerOf(await verb(invoke.operator({ name: actorOf(run.world, flags) }), of))
  })
}

interface SupersedeFlags extends NewFlags {
  readonly params: string
  readonly expectedVersion: number
}

export const opsSupersedeCommand = defineCommand<SupersedeFlags, [id: string]>({
  brief: sayVerb("supersede"),
  effect: true,
  flags: {
    ...NEW_FLAGS,
    params: {
      kind: "parsed",
      parse: filled,
      brief: "The changed parameters: JSON, @FILE, or - for standard input",
      placeholder: "JSON",
    },
    expectedVersion: {
      kind: "parsed",
      parse: wholeNumber(1),
      brief: "The version you saw; refused where the operation has moved",
      placeholder: "N",
    },
  },
  positional: [OPERATION_ID],
  async run(run, flags, id) {
    const params = await readParams(run, flags.params)
    const { expectedVersion } = flags
    return make(run, flags, id, (operator) => operator.supersede(id, { params, expectedVersion, wait: waitOf(flags) }))
  },
})

interface RepeatFlags extends NewFlags {
  readonly reason: string
}

export const opsRepeatCommand = defineCommand<RepeatFlags, [id: string]>({
  brief: sayVerb("repeat"),
  effect: true,
  flags: { ...NEW_FLAGS, reason: REASON },
  positional: [OPERATION_ID],
  run: (run, flags, id) =>
    make(run, flags, id, (operator, of) => {
      refuseUnfinished(of)
      return operator.repeat(id, { reason: flags.reason, wait: waitOf(flags) })
    }),
})

/** The table's word: while the action itself may still go out, doing it once more would be doing it twice. */
function refuseUnfinished({ operation_id, state }: Operation): void {
  const from: readonly State[] = VERBS.repeat.from
  if (from.includes(state)) return
  throw new InvokeError("illegal_transition", {
    happened: `operation ${operation_id} is ${state}: it is repeated once it is ${from.join(", ")}`,
    detail: { operation_id, state, verb: "repeat" },
  })
}
