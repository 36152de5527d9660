/**
 * The verbs of people: one table, one door (protocol §4; interfaces, "Two objects").
 *
 * Owns: the operator object. Adapters, tools and agents never see it.
 *
 * OP1. Every verb names who did it, and is refused with the reason where the operation is not where the verb begins.
 * OP2. A verb with `expected_version` is refused where the operation has moved since (`version_conflict`).
 * OP3. The same verb with the same `event_id` a second time changes nothing (HU-3).
 */
import {
  InvokeError,
  type Illegal,
  type Operation,
  type OperationEvent,
  type ResolveTo,
  type Result,
} from "@invokejs/protocol"
import { admit } from "../admission/admit.ts"
import { followAdmitted, journaled } from "../admission/call.ts"
import { checkCallOptions } from "../admission/call-options.ts"
import { jsonParams, nameCall, parseParams } from "../admission/call-request.ts"
import { tellResult } from "../admission/tell-result.ts"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent } from "../operation-writer.ts"
import type { PurgeResult } from "../ports/journal.ts"
import { endAttemptsOf } from "../reconcile/gone-workers.ts"
import { judgeHeld } from "../reconcile/held.ts"
import { retakeSlot } from "./retake-slot.ts"

export interface VerbOptions {
  /** Refuses the verb where the operation has moved since it was read. */
  readonly expectedVersion?: number
  readonly reason?: string
}

export interface ResolveOptions extends Omit<ResolveTo, "reason"> {
  readonly reason: string
  readonly expectedVersion?: number
}

export class Operator {
  readonly #context: EngineContext
  readonly #name: string

  constructor(context: EngineContext, name: string) {
    if (name.trim() === "")
      throw new InvokeError("invalid_request", { happened: "an operator has a name", detail: { field: "name" } })
    this.#context = context
    this.#name = name
  }

  /** Lets a held operation go on: a deliberate repeat, recorded with the reason. */
  async allow(operation_id: string, options: VerbOptions & { readonly reason: string }): Promise<Result> {
    const operation = await this.#read(operation_id)
    return this.#done(
      await retakeHeld(
        this.#context,
        operation,
        (row) => this.#guarded(row, options, { type: "allow", reason: options.reason }),
        this.#actor,
      ),
    )
  }

  /** Stops an operation that is not dispatched. */
  cancel(operation_id: string, options: VerbOptions = {}): Promise<Result> {
    return this.#apply(operation_id, options, () => ({
      type: "cancel",
      reason: options.reason ?? `cancelled by ${this.#name}`,
    }))
  }

  /** Says what really happened, with evidence. */
  resolve(operation_id: string, resolve: ResolveOptions): Promise<Result> {
    const evidence_id = this.#context.ids.event()
    const { expectedVersion, ...to } = resolve
    return this.#apply(operation_id, expectedVersion === undefined ? {} : { expectedVersion }, (row) => ({
      type: "resolve",
      resolve: to.object ? { ...to, object: { ...to.object, kind: to.object.kind ?? row.namespace } } : to,
      evidence_id,
    }))
  }

  /** Another attempt of an operation that is proved not applied. */
  async retry(
    operation_id: string,
    options: { readonly afterAttempt: number; readonly wait?: number },
  ): Promise<Result> {
    const operation = await this.#read(operation_id)
    const applied = await retakeSlot(this.#context, operation, {
      event: (row) => ({
        type: "retry",
        after_attempt: options.afterAttempt,
        deadline_at: this.#context.journal.now() + row.contract.deadline_ms,
        automatic: false,
      }),
      actor: this.#actor,
    })
    return this.#done(applied)
  }

  /** The same identity with changed parameters, after the old operation ended without an effect. */
  async supersede(
    operation_id: string,
    options: { readonly params: unknown; readonly expectedVersion: number; readonly wait?: number },
  ): Promise<Result> {
    const old = await this.#read(operation_id)
    if (old.version !== options.expectedVersion) throw versionConflict(old, options.expectedVersion)
    const request = await this.#requestFor(old, options.params, null, options.wait ?? 0)
    const identityMoved =
      request.identity !== null && JSON.stringify(request.identity.fields) !== JSON.stringify(old.identity)
    if (identityMoved) {
      throw new InvokeError("supersedes_refused", {
        happened: "other identity fields name another action, which is a new call",
        detail: { operation_id },
      })
    }
    const named = { ...request, keys: [old.key, ...request.keys.filter((key) => key !== old.key)] }
    const admitted = await journaled(() => admit(this.#context, named, { supersedes: old, actor: this.#actor }))
    return followAdmitted(this.#context, named, admitted)
  }

  /** The same action once more, on purpose. A retry of the repeat is the same repeat. */
  async repeat(operation_id: string, options: { readonly reason: string; readonly wait?: number }): Promise<Result> {
    const of = await this.#read(operation_id)
    const request = await this.#requestFor(of, of.params, of.operation_id, options.wait ?? 0)
    const keys = request.identity === null ? [`d:${this.#context.sha256(`repeat:${of.operation_id}`)}`] : request.keys
    const named = { ...request, keys, key_kind: "derived" as const }
    const admitted = await journaled(() => admit(this.#context, named, { repeats: of, actor: this.#actor }))
    return followAdmitted(this.#context, named, admitted)
  }

  /** Makes the next look due now. */
  async reconcile(operation_id: string): Promise<Result> {
    const result = await this.#apply(operation_id, {}, () => ({ type: "reconcile" }))
    this.#context.wake()
    return result
  }

  /** Adds a new fact to a contradicted outcome. Nobody edits a settled one. */
  amend(
    operation_id: string,
    options: {
      readonly to: "succeeded" | "undone" | "not_applied" | "closed_unknown"
      readonly reason: string
      readonly expectedVersion?: number
    },
  ): Promise<Result> {
    return this.#apply(operation_id, options, () => ({ type: "amend", to: options.to, reason: options.reason }))
  }

  /** A person's word that a worker's process is gone. */
  async workersGone(worker_id: string, options: { readonly reason: string }): Promise<void> {
    const proof = `attested by ${this.#name}: ${options.reason}`
    await this.#context.journal.workers.markGone(worker_id, proof)
    await endAttemptsOf(this.#context, worker_id, proof)
  }

  liftQuarantine(statement: string): Promise<void> {
    return this.#context.journal.liftQuarantine(this.#name, statement)
  }

  /** Turns payloads of settled operations into tombstones. */
  purge(options: { readonly before: number; readonly limit?: number }): Promise<PurgeResult> {
    return this.#context.journal.purge({ before: options.before, limit: options.limit ?? 10_000 })
  }

  closeIncident(incident_id: string, resolution: string): Promise<void> {
    return this.#context.journal.closeIncident(incident_id, this.#name, resolution)
  }

  get #actor(): string {
    return `operator:${this.#name}`
  }

  async #requestFor(operation: Operation, params: unknown, repeatOf: string | null, wait: number) {
    const tool = this.#context.tools.of(operation)
    if (!tool)
      throw new InvokeError("unknown_tool", {
        happened: `no tool ${operation.tool} is loaded here`,
        detail: { tool: operation.tool, known: [] },
      })
    const json = jsonParams(params)
    const checked = {
      ...checkCallOptions({
        tool: operation.tool,
        params: json,
        tenant: operation.tenant,
        agentId: operation.agent_id,
        wait,
      }),
      ...(operation.key_kind === "derived" ? {} : { runId: operation.run_id ?? operation.operation_id }),
      repeatOf,
    }
    return nameCall(this.#context, tool, json, await parseParams(tool, json), checked)
  }

  async #apply(operation_id: string, options: VerbOptions, make: (row: Operation) => OperationEvent): Promise<Result> {
    await this.#read(operation_id)
    return this.#done(
      await applyEvent(this.#context, operation_id, (row) => this.#guarded(row, options, make(row)), {
        actor: this.#actor,
      }),
    )
  }

  #guarded(row: Operation, options: VerbOptions, event: OperationEvent): OperationEvent {
    if (options.expectedVersion !== undefined && row.version !== options.expectedVersion)
      throw versionConflict(row, options.expectedVersion)
    return event
  }

  async #done(applied: Awaited<ReturnType<typeof applyEvent>>): Promise<Result> {
    if (!applied.ok) throw refused(applied.operation, applied.illegal)
    if (applied.operation.settled_at !== null) await judgeHeld(this.#context, applied.operation)
    this.#context.wake()
    return tellResult(this.#context, applied.operation, "later")
  }

  async #read(operation_id: string): Promise<Operation> {
    const operation = await this.#context.journal.operation(operation_id)
    if (operation) return operation
    throw new InvokeError("operation_not_found", {
      happened: `there is no operation ${operation_id}`,
      detail: { operation_id },
    })
  }
}

async function retakeHeld(
  context: EngineContext,
  operation: Operation,
  event: (row: Operation) => OperationEvent,
  actor: string,
): ReturnType<typeof applyEvent> {
  const { intent_digest } = operation
  if (intent_digest === null) return applyEvent(context, operation.operation_id, event, { actor })
  const name = { tenant: operation.tenant, namespace: operation.namespace, intent_digest }
  let version = 0
  return applyEvent(
    context,
    operation.operation_id,
    async (row) => {
      version = (await context.journal.slot(name))?.version ?? 0
      return event(row)
    },
    {
      actor,
      slots: (next) =>
        next.state === "ready" ? [{ ...name, expect_version: version, operation_id: next.operation_id }] : [],
    },
  )
}

function versionConflict(operation: Operation, expected: number): InvokeError {
  return new InvokeError("version_conflict", {
    happened: `operation ${operation.operation_id} is at version ${operation.version}, not ${expected}`,
    detail: { operation_id: operation.operation_id, version: operation.version, state: operation.state },
  })
}

function refused(operation: Operation, illegal: Illegal | null): InvokeError {
  const code = illegal?.code === "dispatch_refused" || illegal === null ? "illegal_transition" : illegal.code
  return new InvokeError(code, {
    happened: `operation ${operation.operation_id} is ${operation.state}: ${illegal?.text ?? "there is nothing to do"}`,
    detail: { operation_id: operation.operation_id, state: operation.state },
  })
}
