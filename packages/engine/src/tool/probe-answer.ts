/**
 * The words with which a probe or a fence says what it saw.
 *
 * Owns: `found`, `absent`, `unsure`, `notApplied`, `fenced`, `collided`, and how their contents become candidates.
 * Must not: guess that a look was complete. Silence counts as a negative only where the author says so.
 *
 * PA1. Recognised by a registered symbol, like `outcome.*`.
 * PA2. An answer that is no word, or an object without cause where cause is needed, is `unsure`: it decides nothing.
 * PA3. A time without a unit is told apart by size (seconds or milliseconds since 2001), else refused.
 */
import { DEFAULTS, instant, type Candidate, type Json } from "@invokejs/protocol"
import { jsonOutput } from "./json-output.ts"
import { tombstoneGeneration } from "./tombstone-marker.ts"

const ANSWER = Symbol.for("@invokejs/answer")

export interface FoundObject {
  readonly id: string | number
  /** The operation id that the object carries. */
  readonly operationId?: string
  /** The provider key that the object carries. */
  readonly providerKey?: string
  /** The provider's creation time: a `Date`, an ISO text with its zone, or seconds or milliseconds since 1970. */
  readonly createdAt?: Date | string | number
  readonly account?: string
  readonly kind?: string
  /** The provider's version of the object: etag, sha, updated_at. */
  readonly version?: string
  /** The object will not change by itself any more. */
  readonly final?: boolean
  /** The marker that a fence of ours left on the object, if it carries one. */
  readonly marker?: string
  readonly state: object
  /** What the call answers with when this object confirms it, where the function would have returned something else. */
  readonly output?: unknown
}

/** Why an object that was found may be ours, as far as its type tells. */
export type FoundCause = "operation" | "created" | "none"

type CauseOf<O> = O extends { readonly operationId: string } | { readonly providerKey: string }
  ? "operation"
  : O extends { readonly createdAt: Date | string | number }
    ? "created"
    : "none"

export interface FoundWord<Cause extends FoundCause = FoundCause> {
  readonly kind: "found"
  readonly cause?: Cause
  readonly objects: readonly FoundObject[]
  readonly complete?: boolean
  readonly search: boolean
}

export interface AbsentWord {
  readonly kind: "absent"
  readonly complete: boolean
  readonly search: boolean
}

export interface UnsureWord {
  readonly kind: "unsure"
  readonly reason: string
}

export interface NotAppliedWord {
  readonly kind: "not_applied"
  readonly reason: string
  readonly permanent: boolean
}

export type ProbeWord<Cause extends FoundCause = FoundCause> =
  | FoundWord<Cause>
  | AbsentWord
  | UnsureWord
  | NotAppliedWord

export type FenceWord =
  | { readonly kind: "fenced" }
  | { readonly kind: "collided"; readonly object: FoundObject }
  | UnsureWord

export interface LookReach {
  /** Everything that could be ours was looked at: all pages, every place. */
  readonly complete?: boolean
  /** It came from a search index, which may lag. */
  readonly search?: boolean
}

/** The look found this object, or these. */
export function found<const O extends FoundObject>(
  object: O | readonly O[],
  reach: LookReach = {},
): FoundWord<CauseOf<O>> {
  const objects: readonly FoundObject[] = isList(object) ? object : [object]
  return branded({
    kind: "found",
    objects,
    search: reach.search === true,
    ...(reach.complete === undefined ? {} : { complete: reach.complete }),
  })
}

/** The look found nothing. `complete: true` is the author's word that the lookup is authoritative. */
export function absent(reach: { readonly complete: boolean; readonly search?: boolean }): AbsentWord {
  return branded({ kind: "absent", complete: reach.complete, search: reach.search === true })
}

/** The look was answered, and says nothing. */
export function unsure(reason: string): UnsureWord {
  return branded({ kind: "unsure", reason })
}

/** The provider says that what was sent was not applied, and (`permanent`) never will be. */
export function notApplied(
  reason: string,
  { permanent = false }: { readonly permanent?: boolean } = {},
): NotAppliedWord {
  return branded({ kind: "not_applied", reason, permanent })
}

/** Our tombstone now holds the name. */
export function fenced(): FenceWord {
  return branded({ kind: "fenced" })
}

/** The name was taken, by this object. */
export function collided(object: FoundObject): FenceWord {
  return branded({ kind: "collided", object })
}

export function isProbeWord(value: unknown): value is ProbeWord | FenceWord {
  return typeof value === "object" && value !== null && (value as { readonly [ANSWER]?: unknown })[ANSWER] === true
}

function isList<O>(value: O | readonly O[]): value is readonly O[] {
  return Array.isArray(value)
}

function branded<O extends object>(value: O): O {
  return Object.freeze(Object.defineProperty(value, ANSWER, { value: true }))
}

/**
 * An object of the outside world as evidence. Throws a `TypeError` that says what is wrong with it.
 *
 * Without a `kind` the tool's namespace stands in: ticket 1 of one system is not charge 1 of another, and one object confirms
 * one operation. Tools that make the same kind of object at one account declare the same `kind`.
 */
export function candidateOf(
  object: FoundObject,
  about: { readonly operation_id: string | null; readonly namespace: string },
): Candidate {
  if (typeof object !== "object" || object === null) throw new TypeError("found() needs an object of id and state")
  const { operationId, providerKey, createdAt, account, kind, version, final, marker } = object
  const generation =
    typeof marker === "string" && about.operation_id !== null ? tombstoneGeneration(marker, about.operation_id) : null
  return {
    object_id: objectId(object.id),
    ...(account === undefined || account === null ? {} : { account: String(account) }),
    kind: kind === undefined || kind === null ? about.namespace : String(kind),
    ...textMember("operation_id", operationId),
    ...textMember("provider_key", providerKey),
    ...(createdAt === undefined || createdAt === null ? {} : { created_at: createdMs(createdAt) }),
    ...(version === undefined || version === null ? {} : { version: String(version) }),
    ...(final === true ? { final } : {}),
    ...(generation === null ? {} : { tombstone: { generation } }),
    state: stateOf(object.state),
    ...(object.output === undefined ? {} : { output: jsonOutput(object.output).output }),
  }
}

function objectId(value: unknown): string {
  const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value
  if (typeof text !== "string" || text.trim() === "") throw new TypeError("found() needs the object's id")
  return text
}

/** An empty id is what a provider gives for "none"; it would match nothing, and must not look like a cause. */
function textMember(name: string, value: unknown): { readonly [name: string]: string } {
  return typeof value === "string" && value !== "" ? { [name]: value } : {}
}

/** Seconds up to the year 5138, milliseconds from 2001: the ranges do not meet. */
const SECONDS_BELOW = 1e11
const YEAR_2001_MS = 978_307_200_000

function createdMs(value: Date | string | number): number {
  if (typeof value !== "number") return Date.parse(instant(value).value)
  const ms = value < SECONDS_BELOW ? value * 1_000 : value
  if (!Number.isFinite(ms) || ms < YEAR_2001_MS) {
    throw new TypeError("createdAt is no time since 2001 in seconds or milliseconds; pass a Date or an ISO 8601 text")
  }
  return Math.floor(ms)
}

function stateOf(value: unknown): { readonly [field: string]: Json } {
  const stored = jsonOutput(value, DEFAULTS.output_bytes_max)
  if ("output_error" in stored) throw new TypeError(`found() got a state that cannot be stored: ${stored.output_error}`)
  const { output } = stored
  if (typeof output !== "object" || output === null || Array.isArray(output)) {
    throw new TypeError("found() needs the object's state, as an object of its fields")
  }
  return output as { readonly [field: string]: Json }
}
