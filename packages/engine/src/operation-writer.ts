/**
 * The shell around `transition()`: read, decide, write by compare-and-set, again if somebody was faster.
 *
 * Owns: the one loop through which an engine changes an operation it did not just create (S4).
 * Must not: decide. The event's maker is called afresh with what was read, and may say that there is nothing to do.
 *
 * OW1. A conflict on the operation means: read again and decide again. No decision survives what it has not read.
 * OW2. A commit in doubt is learned by a locking read of its `event_id`, never assumed (R23).
 * OW3. One object confirms one operation: the row is in the write that confirms; a taken object is told to the maker.
 */
import {
  isTerminal,
  objectKey,
  transition,
  type Illegal,
  type Operation,
  type OperationEvent,
  type Step,
} from "@invokejs/protocol"
import {
  CLOCK_TOLERANCE_MS,
  JournalError,
  type Lease,
  type ObjectRow,
  type SlotChange,
  type WriteResult,
} from "./ports/journal.ts"
import type { EngineContext } from "./engine-context.ts"

export interface Facts {
  /** Objects that turned out to confirm another operation: object id → that operation. */
  readonly taken: ReadonlyMap<string, string>
}

export type EventMaker = (operation: Operation, facts: Facts) => OperationEvent | null | Promise<OperationEvent | null>

export interface WriteOptions {
  readonly actor: string
  /** Of the write, where somebody must be able to ask for it again; one of its own otherwise. */
  readonly event_id?: string
  readonly lease?: Lease
  readonly slots?: (next: Operation) => readonly SlotChange[] | Promise<readonly SlotChange[]>
  /** Already read: saves the first read. */
  readonly known?: Operation
}

export type Applied =
  | { readonly ok: true; readonly operation: Operation; readonly committed_at: number }
  | {
      readonly ok: false
      readonly operation: Operation
      readonly illegal: Illegal | null
      readonly conflict: string | null
    }

/** So that two deciders who keep meeting do not spin for ever; each round one of them has won. */
const ROUNDS_MAX = 64

export async function applyEvent(
  context: EngineContext,
  operation_id: string,
  make: EventMaker,
  options: WriteOptions,
): Promise<Applied> {
  const taken = new Map<string, string>()
  let operation = options.known ?? (await readOperation(context, operation_id))
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const event = await make(operation, { taken })
    if (event === null) return { ok: false, operation, illegal: null, conflict: null }
    const now = context.journal.now()
    const step = transition(operation, event, { now, unit: context.random.unit(), actor: options.actor })
    if (!step.ok) return { ok: false, operation, illegal: step, conflict: null }
    const result = await writeStep(context, operation, step, now, { ...options, taken })
    if (result.ok) {
      if (step.incidents.length > 0) context.opened(result.operation, step.incidents)
      return { ok: true, operation: result.operation, committed_at: result.committed_at }
    }
    const { conflict } = result
    if (conflict.on === "object") taken.set(conflict.object_id, conflict.operation_id)
    else if (conflict.on !== "operation" && conflict.on !== "clock" && conflict.on !== "slot") {
      return { ok: false, operation, illegal: null, conflict: conflict.on }
    }
    operation = await readOperation(context, operation_id)
  }
  throw new JournalError(
    "overloaded",
    `operation ${operation_id} changed ${ROUNDS_MAX} times while it was being written`,
  )
}

async function readOperation(context: EngineContext, operation_id: string): Promise<Operation> {
  const operation = await context.journal.operation(operation_id)
  if (!operation) throw new JournalError("journal_corrupt", `operation ${operation_id} is not in the journal`)
  return operation
}

async function writeStep(
  context: EngineContext,
  from: Operation,
  step: Step,
  at: number,
  options: WriteOptions & { readonly taken: ReadonlyMap<string, string> },
): Promise<WriteResult> {
  const event_id = options.event_id ?? context.ids.event()
  // Who made the event was told that the object is taken. If it is confirmed by it all the same, that settles without the row.
  const objects = confirmedRows(from, step.next).filter((row) => !options.taken.has(row.object_id))
  const slots = (await options.slots?.(step.next)) ?? []
  const write = {
    event_id,
    at,
    operation: { expect_version: from.version, next: step.next, events: step.events },
    ...(objects.length > 0 ? { objects } : {}),
    ...(slots.length > 0 ? { slots } : {}),
    ...(step.incidents.length > 0 ? { incidents: step.incidents } : {}),
  }
  return settleDoubt(context, event_id, from.operation_id, at, () =>
    options.lease
      ? context.journal.dispatch({ ...write, kind: "dispatch", lease: options.lease })
      : context.journal.advance({ ...write, kind: "advance" }),
  )
}

export function isInDoubt(error: unknown): boolean {
  return error instanceof JournalError && error.code === "commit_in_doubt"
}

/**
 * Runs a write; where its commit is in doubt, learns the truth before anything else is decided (OW2). Where that cannot be
 * learned either, it throws `commit_in_doubt`: whoever called must not say that nothing was written.
 */
export async function settleDoubt(
  context: EngineContext,
  event_id: string,
  operation_id: string,
  at: number,
  write: () => Promise<WriteResult>,
): Promise<WriteResult> {
  try {
    return await write()
  } catch (error) {
    if (!isInDoubt(error)) throw error
    const written = await context.journal.settled(event_id, operation_id).catch(() => {
      throw error
    })
    // Its database time is not known; no later than this, or the journal would have refused it (JN5).
    if (written) return { ok: true, committed_at: at + CLOCK_TOLERANCE_MS, operation: written }
    return { ok: false, conflict: { on: "operation", operation_id }, now: context.journal.now() }
  }
}

function confirmedRows(from: Operation, next: Operation): readonly ObjectRow[] {
  const object = next.object
  if (object === null || next.state !== "succeeded" || next.contract.shared) return []
  if (next.contract.lookup?.correlates === "state") return []
  if (from.object !== null && objectKey(from.object) === objectKey(object) && isTerminal(from.state)) return []
  return [{ ...object, tenant: next.tenant, operation_id: next.operation_id }]
}
