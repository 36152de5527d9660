/**
 * What an engine does before it takes its first call: learn what earlier processes left behind (CS-5, CS-9, CS-8).
 *
 * RV1. A journal in quarantine marks every open operation `restored` once; nothing dispatches until it is lifted. Where it went
 *      back under processes that go on, they do so before the next step of each, and before it is lifted.
 * RV2. Workers whose processes are proved gone are closed at once; the others' leases lapse by themselves.
 * RV3. Stored keys are derived again: a difference without a new identity version refuses the start (item 9).
 */
import { DEFAULTS, deriveKey, InvokeError, isTerminal, STATE_NAMES, type Operation } from "@invokejs/protocol"
import type { EngineContext } from "./engine-context.ts"
import { applyEvent } from "./operation-writer.ts"
import { closeGoneWorkers } from "./reconcile/gone-workers.ts"
import { parseStored } from "./stored-params.ts"
import type { CompiledTool, Identity } from "./tool/compiled-tool.ts"

const PAGE = 500
/** Start-up stays bounded on a large journal: open operations are all checked, of the settled ones the newest. */
const RECENT_MAX = 2_000

export async function recover(context: EngineContext): Promise<void> {
  await checkIdentities(context)
  const quarantine = await context.journal.quarantine()
  if (quarantine) await markRestored(context, quarantine.since)
  await closeGoneWorkers(context)
}

const OPEN = STATE_NAMES.filter((state) => !isTerminal(state))

export async function markRestored(context: EngineContext, since: number): Promise<void> {
  for await (const operation of allOpen(context)) {
    if (mayBeForgotten(operation, since)) await markOneRestored(context, operation, since)
  }
}

export async function markOneRestored(
  context: EngineContext,
  { operation_id }: Operation,
  since: number,
): Promise<void> {
  await applyEvent(
    context,
    operation_id,
    (row) => (mayBeForgotten(row, since) ? { type: "restored", until: since } : null),
    { actor: "engine" },
  )
}

/** Whether an attempt of it may have been forgotten that nobody has looked for yet. */
export function mayBeForgotten(operation: Operation, since: number): boolean {
  const { state, restored, created_at } = operation
  // Admitted since, it is known to nobody but this life of the journal.
  if (isTerminal(state) || created_at > since) return false
  return restored === null ? !lookedForSince(operation, since) : restored.until < since
}

/** It was marked, and looks begun after the window led it back since: it need not be marked again before the lift. */
function lookedForSince({ state_since, verdict, generation_started_at }: Operation, since: number): boolean {
  return state_since > since && verdict === "refuted" && Object.values(generation_started_at).includes(null)
}

async function* allOpen(context: EngineContext): AsyncGenerator<Operation> {
  let cursor: string | null = null
  do {
    const page: { items: readonly Operation[]; next_cursor: string | null } = await context.journal.operations(
      { states: OPEN },
      cursor === null ? { limit: PAGE } : { limit: PAGE, cursor },
    )
    yield* page.items
    cursor = page.next_cursor
  } while (cursor !== null)
}

/** The same for a tool that joins later (`guard`). */
export async function checkIdentitiesOf(context: EngineContext, tool: CompiledTool): Promise<void> {
  await checkIdentities(context, tool.name)
}

async function checkIdentities(context: EngineContext, tool?: string): Promise<void> {
  for await (const operation of allOpen(context)) {
    if (tool === undefined || context.tools.of(operation)?.name === tool) await checkIdentity(context, operation)
  }
  const recent = await context.journal.operations(
    { states: ["succeeded"], ...(tool === undefined ? {} : { tool }) },
    { limit: RECENT_MAX },
  )
  const now = context.journal.now()
  for (const operation of recent.items) {
    const window = context.tools.of(operation)?.repeat_window_ms ?? DEFAULTS.repeat_window_ms
    if (now - (operation.settled_at ?? now) < window) await checkIdentity(context, operation)
  }
}

async function checkIdentity(context: EngineContext, operation: Operation): Promise<void> {
  const tool = context.tools.of(operation)
  const { identity, identity_version, namespace } = operation
  if (
    !tool ||
    operation.output_purged ||
    identity === null ||
    operation.repeats !== null ||
    operation.compensates !== null
  )
    return
  const parsed = await parseStored(tool, operation.params)
  if (!parsed.ok) return
  const today = identitiesToday(tool, parsed.value)
  const same = today.find((one) => one.version === identity_version)
  const then = deriveKey({ namespace, identity_version, fields: identity }, context.sha256)
  const now = same && deriveKey({ namespace: tool.namespace, identity_version, fields: same.fields }, context.sha256)
  if (then === now) return
  const why = same
    ? "derives another key than the one it was admitted under"
    : `has no version ${JSON.stringify(identity_version)} any more, under which it was admitted`
  throw new InvokeError("identity_changed", {
    happened: `the identity of ${tool.name} ${why}: operation ${operation.operation_id} is unresolved or recent`,
    detail: { tool: tool.name, operation_id: operation.operation_id, identity_version },
  })
}

/** A function that takes these parameters no more derives nothing from them. */
function identitiesToday(tool: CompiledTool, parsed: unknown): readonly Identity[] {
  try {
    return tool.identify(parsed)
  } catch {
    return []
  }
}
