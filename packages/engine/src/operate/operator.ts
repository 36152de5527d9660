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
  canonicalJson,
  DEFAULTS,
  InvokeError,
  VERBS,
  type Candidate,
  type Illegal,
  type Operation,
  type OperationEvent,
  type ResolveTo,
  type Result,
  type State,
} from "@invokejs/protocol"
import { admitAndStart, followAdmitted, journaled } from "../admission/call.ts"
import { checkCallOptions } from "../admission/call-options.ts"
import { jsonParams, nameCall, parseParams, type CallRequest } from "../admission/call-request.ts"
import { showResult } from "../admission/tell-result.ts"
import type { EngineContext } from "../engine-context.ts"
import { applyEvent, type Applied, type Facts } from "../operation-writer.ts"
import type { PurgeResult } from "../ports/journal.ts"
import { endAttemptsOf } from "../reconcile/gone-workers.ts"
import { judgeHeld } from "../reconcile/held.ts"
import { markRestored } from "../recover.ts"
import { checkResolve } from "./check-resolve.ts"
import { retakeSlot, takeSlotAllowed } from "./retake-slot.ts"

const PURGE_MAX = 10_000

export interface VerbOptions {
  /** Refuses the verb where the operation has moved since it was read. */
  readonly expectedVersion?: number
  /** Names this act: the same verb with the same name a second time changes nothing (OP3). */
  readonly eventId?: string
  readonly reason?: string
}

export interface ResolveOptions extends Omit<ResolveTo, "reason" | "object_taken_by">, VerbOptions {
  readonly reason: string
}

type Amendment = Omit<Extract<OperationEvent, { type: "amend" }>, "type">

export interface AmendOptions extends Omit<Amendment, "object_taken_by" | "evidence_id">, VerbOptions {
  readonly reason: string
}

export class Operator {
  readonly #context: EngineContext
  readonly #name: string

  constructor(context: EngineContext, name: string) {
    if (typeof name !== "string" || name.trim() === "") throw badField("name", "an operator has a name")
    this.#context = context
    this.#name = name
  }

  /** Lets a held operation go on: a deliberate repeat, recorded with the reason. */
  async allow(operation_id: string, options: VerbOptions & { readonly reason: string }): Promise<Result> {
    const reason = reasonOf(options)
    return this.#verb(operation_id, "allow", options, (operation, event_id) =>
      takeSlotAllowed(this.#context, operation, (row) => this.#guarded(row, options, { type: "allow", reason }), {
        actor: this.#actor,
        ...event_id,
      }),
    )
  }

  /** Stops an operation that is not dispatched. */
  async cancel(operation_id: string, options: VerbOptions = {}): Promise<Result> {
    const reason = options.reason ?? `cancelled by ${this.#name}`
    return this.#apply(operation_id, "cancel", options, () => ({ type: "cancel", reason }))
  }

  /** Says what really happened, with evidence. */
  async resolve(operation_id: string, options: ResolveOptions): Promise<Result> {
    checkResolve(options)
    const evidence_id = this.#context.ids.event()
    const { expectedVersion: _version, eventId: _event, ...to } = { ...options, evidence: options.evidence ?? {} }
    return this.#apply(operation_id, "resolve", options, (row, facts) => ({
      type: "resolve",
      resolve: { ...to, ...named(row, to.object, facts) },
      evidence_id,
    }))
  }

  /** Another attempt of an operation that is proved not applied. */
  async retry(
    operation_id: string,
    options: VerbOptions & { readonly afterAttempt: number; readonly wait?: number },
  ): Promise<Result> {
    return this.#verb(operation_id, "retry", options, (operation, event_id) =>
      retakeSlot(this.#context, operation, {
        event: (row) =>
          this.#guarded(row, options, {
            type: "retry",
            after_attempt: options.afterAttempt,
            deadline_at: this.#context.journal.now() + row.contract.deadline_ms,
            automatic: false,
          }),
        actor: this.#actor,
        ...event_id,
      }),
    )
  }

  /** The same identity with changed parameters, after the old operation ended without an effect. */
  async supersede(
    operation_id: string,
    options: { readonly params: unknown; readonly expectedVersion: number; readonly wait?: number },
  ): Promise<Result> {
    const old = await this.#read(operation_id)
    if (old.version !== options.expectedVersion) throw versionConflict(old, options.expectedVersion)
    const request = await this.#requestFor(old, options.params, null, options.wait ?? 0)
    if (!sameIdentity(request, old)) {
      throw new InvokeError("supersedes_refused", {
        happened: "other identity fields name another action, which is a new call",
        detail: { operation_id },
      })
    }
    const keys = [old.key, ...(old.identity === null ? [] : request.keys.filter((key) => key !== old.key))]
    const renamed = { ...request, keys, key_kind: old.key_kind }
    const admitted = await admitAndStart(this.#context, renamed, { supersedes: old, actor: this.#actor })
    return followAdmitted(this.#context, renamed, admitted)
  }

  /** The same action once more, on purpose. A retry of the repeat is the same repeat. */
  async repeat(operation_id: string, options: { readonly reason: string; readonly wait?: number }): Promise<Result> {
    reasonOf(options)
    const of = await this.#read(operation_id)
    const from: readonly State[] = VERBS.repeat.from
    if (of.output_purged) {
      throw new InvokeError("illegal_transition", {
        happened: `the parameters of operation ${operation_id} are purged`,
        detail: { operation_id, state: of.state },
      })
    }
    if (!from.includes(of.state) && !of.contradicted) {
      throw new InvokeError("illegal_transition", {
        happened: `operation ${operation_id} is ${of.state}: only an action that may be in place is repeated`,
        detail: { operation_id, state: of.state },
      })
    }
    const request = await this.#requestFor(of, of.params, of.operation_id, options.wait ?? 0)
    const keys = request.identity === null ? [`d:${this.#context.sha256(`repeat:${of.operation_id}`)}`] : request.keys
    const renamed = { ...request, keys, key_kind: "derived" as const }
    const admitted = await admitAndStart(this.#context, renamed, { repeats: of, actor: this.#actor })
    return followAdmitted(this.#context, renamed, admitted)
  }

  /** Makes the next look due now. */
  async reconcile(operation_id: string, options: VerbOptions = {}): Promise<Result> {
    return this.#apply(operation_id, "reconcile", options, () => ({ type: "reconcile" }))
  }

  /** Adds a new fact to a contradicted outcome. Nobody edits a settled one. */
  async amend(operation_id: string, options: AmendOptions): Promise<Result> {
    const evidence_id = this.#context.ids.event()
    const { expectedVersion: _version, eventId: _event, ...to } = options
    return this.#apply(operation_id, "amend", options, (row, facts) => ({
      type: "amend",
      ...to,
      ...named(row, to.object, facts),
      evidence_id,
    }))
  }

  /** A person's word that a worker's process is gone. */
  async workersGone(worker_id: string, options: { readonly reason: string }): Promise<void> {
    const proof = `attested by ${this.#name}: ${reasonOf(options)}`
    await journaled(async () => {
      const workers = await this.#context.journal.workers.list()
      if (!workers.some((one) => one.worker_id === worker_id)) {
        throw new InvokeError("invalid_request", {
          happened: `there is no worker ${worker_id}`,
          detail: { field: "worker_id" },
        })
      }
      await this.#context.journal.workers.markGone(worker_id, proof)
      await endAttemptsOf(this.#context, new Map([[worker_id, proof]]))
    })
  }

  /** Lets the journal dispatch again. The statement says what was lost; it stays on record. */
  async liftQuarantine(statement: string): Promise<void> {
    const said = reasonOf({ reason: statement }, "statement")
    await journaled(async () => {
      const quarantine = await this.#context.journal.quarantine()
      if (quarantine) await markRestored(this.#context, quarantine.since)
      await this.#context.journal.liftQuarantine(this.#name, said)
      await this.#dueAgain()
    })
    this.#context.wake()
  }

  /** What was put off while nothing could be dispatched is due now. */
  async #dueAgain(): Promise<void> {
    const waiting = await this.#context.journal.operations(
      { states: ["ready", "unknown"] },
      { limit: DEFAULTS.page_max },
    )
    for (const { operation_id, reason } of waiting.items) {
      if (reason?.code !== "waiting") continue
      await applyEvent(
        this.#context,
        operation_id,
        (row) =>
          row.reason?.code === "waiting"
            ? {
                type: "postpone",
                until: this.#context.journal.now(),
                reason: { code: "lifted", text: "the quarantine is lifted" },
              }
            : null,
        { actor: this.#actor },
      )
    }
  }

  /** Turns payloads of settled operations into tombstones. */
  async purge(options: { readonly before: number; readonly limit?: number }): Promise<PurgeResult> {
    const { before, limit = PURGE_MAX } = options
    if (!Number.isFinite(before) || !Number.isInteger(limit) || limit < 1) {
      throw badField("before", "purge takes { before: <ms since 1970>, limit: <a whole number> }")
    }
    return journaled(() => this.#context.journal.purge({ before, limit }))
  }

  async closeIncident(incident_id: string, resolution: string): Promise<void> {
    const said = reasonOf({ reason: resolution }, "resolution")
    return journaled(() => this.#context.journal.closeIncident(incident_id, this.#name, said))
  }

  get #actor(): string {
    return `operator:${this.#name}`
  }

  /** The stored call once more, as its own caller made it. */
  async #requestFor(
    operation: Operation,
    params: unknown,
    repeatOf: string | null,
    wait: number,
  ): Promise<CallRequest> {
    const { tenant, agent_id, run_id, turn_id, group_id, labels, retry_on_repeat } = operation
    const tool = this.#context.tools.of(operation)
    if (!tool)
      throw new InvokeError("unknown_tool", {
        happened: `no tool ${operation.tool} is loaded here`,
        detail: { tool: operation.tool, known: [] },
      })
    const json = jsonParams(params)
    const options = checkCallOptions({ tool: operation.tool, params: json, tenant, agentId: agent_id, wait })
    // Named by the operation's own chain; the run only lets a tool without identity pass.
    const checked = { ...options, runId: run_id ?? operation.operation_id, repeatOf }
    const request = await nameCall(this.#context, tool, json, await parseParams(tool, json), checked)
    return { ...request, run_id, turn_id, group_id, labels, retry_on_repeat }
  }

  #apply(
    operation_id: string,
    verb: string,
    options: VerbOptions,
    make: (row: Operation, facts: Facts) => OperationEvent,
  ): Promise<Result> {
    return this.#verb(operation_id, verb, options, (_operation, event_id) =>
      applyEvent(this.#context, operation_id, (row, facts) => this.#guarded(row, options, make(row, facts)), {
        actor: this.#actor,
        ...event_id,
      }),
    )
  }

  /** Reads, acts once for each `eventId`, and shows the row. */
  async #verb(
    operation_id: string,
    verb: string,
    { eventId }: VerbOptions,
    act: (operation: Operation, event_id: { readonly event_id?: string }) => Promise<Applied>,
  ): Promise<Result> {
    const operation = await this.#read(operation_id)
    const event_id = eventId === undefined ? null : actId(operation_id, verb, eventId)
    const done = () => (event_id === null ? null : this.#context.journal.settled(event_id, operation_id))
    return journaled(async () => {
      const before = await done()
      if (before) return showResult(this.#context, before)
      const applied = await act(operation, event_id === null ? {} : { event_id })
      if (applied.ok) return this.#done(applied.operation)
      // The same act may have won in the meantime: then this is its answer as well.
      const meanwhile = await done()
      if (meanwhile) return showResult(this.#context, meanwhile)
      throw refused(applied.operation, applied.illegal)
    })
  }

  #guarded(row: Operation, options: VerbOptions, event: OperationEvent): OperationEvent {
    if (options.expectedVersion !== undefined && row.version !== options.expectedVersion)
      throw versionConflict(row, options.expectedVersion)
    return event
  }

  async #done(operation: Operation): Promise<Result> {
    if (operation.settled_at !== null) await judgeHeld(this.#context, operation)
    this.#context.wake()
    return showResult(this.#context, operation)
  }

  async #read(operation_id: string): Promise<Operation> {
    const operation = await journaled(() => this.#context.journal.operation(operation_id))
    if (operation) return operation
    throw new InvokeError("operation_not_found", {
      happened: `there is no operation ${operation_id}`,
      detail: { operation_id },
    })
  }
}

function actId(operation_id: string, verb: string, eventId: string): string {
  if (typeof eventId !== "string" || eventId.trim() === "" || eventId.length > 200) {
    throw badField("eventId", "eventId is a string of 1 to 200 characters")
  }
  return `verb:${verb}:${operation_id}:${eventId}`
}

function reasonOf(options: { readonly reason: string }, field = "reason"): string {
  const reason: unknown = (options as { readonly reason?: unknown } | undefined)?.reason
  if (typeof reason === "string" && reason.trim() !== "") return reason
  throw badField(field, `a ${field} is needed: it stays on record`)
}

function badField(field: string, happened: string): InvokeError {
  return new InvokeError("invalid_request", { happened, detail: { field } })
}

/** An object that a person names: of the tool's own kind unless told otherwise, and perhaps another operation's already. */
function named(
  row: Operation,
  object: Candidate | undefined,
  { taken }: Facts,
): { readonly object?: Candidate; readonly object_taken_by?: string } {
  if (!object) return {}
  const owner = taken.get(object.object_id)
  return {
    object: { ...object, kind: object.kind ?? row.namespace },
    ...(owner === undefined ? {} : { object_taken_by: owner }),
  }
}

/** Under the version the operation was admitted under. */
function sameIdentity({ tool, parsed }: CallRequest, old: Operation): boolean {
  if (old.identity === null) return true
  const today = tool.identify(parsed).find((one) => one.version === old.identity_version)
  return today !== undefined && canonicalJson(today.fields) === canonicalJson(old.identity)
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
