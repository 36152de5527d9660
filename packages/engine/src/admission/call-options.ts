/**
 * The options of a call, as callers write them. They are never set by a model.
 *
 * Owns: their names, their checks, their defaults. An unknown or not yet built option is refused, never ignored.
 */
import { checkExplicitKey, DEFAULTS, InvokeError } from "@invokejs/protocol"
import { durationMs, type Duration } from "../tool/duration.ts"

export interface CallOptions {
  readonly tool: string
  /** The only part that may come from a model. */
  readonly params: unknown
  /** Who acts; default `"default"`. */
  readonly agentId?: string
  /** Names the business action where the tool declares no identity; beside one, an alias of it. */
  readonly idempotencyKey?: string
  /** The agent run; the fallback identity of tools without one, good inside this run only. */
  readonly runId?: string
  /** The model's turn inside the run. */
  readonly turnId?: string
  /**
   * What identical calls are that run side by side in one turn, where only `runId` names the action: one action (`"once"`, the
   * default), or as many as there are (`"each"`). Calls that follow one another, or come in another turn, are one either way.
   */
  readonly identicalCalls?: "once" | "each"
  readonly tenant?: string
  /** How long to wait for a settled answer: ms or "20s"; 0 answers right after the intent is durable. Default 60 s. */
  readonly wait?: Duration
  readonly labels?: { readonly [name: string]: string }
  readonly groupId?: string
  /** Ends the waiting, never the operation. */
  readonly signal?: AbortSignal
  /** Whether an identical later call on `not_applied` is a retry. Default: as the tool says, which is yes in process. */
  readonly retryOnRepeat?: boolean
}

const KNOWN = new Set([
  "tool",
  "params",
  "agentId",
  "idempotencyKey",
  "runId",
  "turnId",
  "identicalCalls",
  "tenant",
  "wait",
  "labels",
  "groupId",
  "signal",
  "retryOnRepeat",
])

export interface CheckedOptions {
  readonly tool: string
  readonly params: unknown
  readonly tenant: string
  readonly agentId: string
  readonly idempotencyKey: string | null
  readonly runId: string | null
  readonly turnId: string | null
  readonly each: boolean
  readonly groupId: string | null
  readonly labels: { readonly [name: string]: string }
  /** null: as the tool says. */
  readonly wait_ms: number | null
  readonly signal: AbortSignal | undefined
  readonly retryOnRepeat: boolean
  /** A key chosen under an agent's rights is scoped to its run. */
  readonly agentScoped: boolean
  readonly repeatOf: string | null
}

export function checkCallOptions(options: CallOptions): CheckedOptions {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw bad("the call's options are not an object", "options")
  for (const name of Object.keys(options)) {
    if (KNOWN.has(name)) continue
    throw new InvokeError("unsupported_option", {
      happened: `a call has no option ${JSON.stringify(name)}`,
      fix: `Use one of: ${[...KNOWN].join(", ")}.`,
      detail: { option: name },
    })
  }
  const checked = {
    tool: text(options.tool, "tool") ?? fail("tool"),
    params: options.params,
    tenant: text(options.tenant, "tenant") ?? DEFAULTS.tenant,
    agentId: text(options.agentId, "agentId") ?? DEFAULTS.agent_id,
    idempotencyKey: options.idempotencyKey === undefined ? null : checkExplicitKey(options.idempotencyKey),
    runId: text(options.runId, "runId"),
    turnId: text(options.turnId, "turnId"),
    each: eachOf(options.identicalCalls),
    groupId: text(options.groupId, "groupId"),
    labels: labels(options.labels),
    wait_ms: waitMs(options.wait),
    signal: signalOf(options.signal),
    retryOnRepeat: flag(options.retryOnRepeat, "retryOnRepeat") ?? true,
    agentScoped: false,
    repeatOf: null,
  }
  if (checked.each && (checked.runId === null || checked.turnId === null)) {
    throw bad('identicalCalls: "each" counts the calls of one turn: it needs runId and turnId', "identicalCalls")
  }
  return checked
}

function eachOf(value: unknown): boolean {
  if (value === undefined || value === "once") return false
  if (value === "each") return true
  throw bad('identicalCalls is "once" or "each"', "identicalCalls")
}

function flag(value: unknown, name: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value
  throw bad(`${name} is true or false`, name)
}

/** Checked before anything is admitted: what fails afterwards fails beside an operation. */
function signalOf(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined
  if (value instanceof AbortSignal) return value
  throw bad("signal is not an AbortSignal", "signal")
}

function waitMs(value: unknown): number | null {
  if (value === undefined) return null
  const ms = durationMs(value)
  if (ms === null) throw bad('wait is not a duration: write milliseconds as a number, or "20s", "5m"', "wait")
  return ms
}

/** Ids and names are stored and indexed: printable, and short enough for both. */
const NAME_MAX = 200

function text(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== "string" || value.trim() === "" || value.length > NAME_MAX) {
    throw bad(`${name} is not a string of 1 to ${NAME_MAX} characters`, name)
  }
  return value
}

function labels(value: unknown): { readonly [name: string]: string } {
  if (value === undefined) return {}
  const entries = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : null
  if (!entries || entries.length > 32 || entries.some(([, one]) => typeof one !== "string" || one.length > NAME_MAX)) {
    throw bad("labels are at most 32 strings by name", "labels")
  }
  return Object.fromEntries<string>(entries)
}

function fail(name: string): never {
  throw bad(`${name} is missing`, name)
}

function bad(happened: string, field: string): InvokeError {
  return new InvokeError("invalid_request", { happened, detail: { field } })
}
