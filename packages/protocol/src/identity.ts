/**
 * Identity: the names of operations, made from declared business fields (protocol §2).
 *
 * Owns: the preimage of every key and digest, and which prefixes only the engine may write.
 * Must not: use an attempt, a clock, a request id, a tool-call id, or a model's free text.
 *
 * ID1. A missing identity field is an error (a key made from an absent value is shared by strangers).
 * ID2. The kinds of keys cannot meet: each has a prefix that explicit keys may not have.
 * ID3. Preimages are canonical JSON of a tagged list, so no two different inputs have one preimage.
 */
import { canonicalJson, type Json } from "./canonical-json.ts"
import { DEFAULTS } from "./defaults.ts"
import { InvokeError } from "./invoke-error.ts"
import { isTyped } from "./typed-value.ts"
import type { Typed } from "./evidence.ts"
import type { Sha256 } from "./fingerprint.ts"

/** Prefixes of keys that the engine makes: derived, run, agent-scoped, compensation. */
export const RESERVED_KEY_PREFIXES = ["d:", "r:", "a:", "compensate:"] as const

export interface NormalFields {
  readonly [field: string]: string
}

/** The declared fields in their normal form. Throws `invalid_params` naming the field that is missing or untyped. */
export function normaliseFields(
  fields: { readonly [field: string]: Typed | null | undefined },
  what: string,
): NormalFields {
  const names = Object.keys(fields).sort()
  if (names.length === 0) throw fieldsError(what, `${what} names no field`, "$")
  const normal: [string, string][] = []
  for (const name of names) {
    const value = fields[name]
    if (value === null || value === undefined) throw fieldsError(what, `${what} field "${name}" is missing`, name)
    if (!isTyped(value))
      throw fieldsError(
        what,
        `${what} field "${name}" has no type: use id(), text(), minor(), decimal() or instant()`,
        name,
      )
    normal.push([name, value.value])
  }
  return Object.fromEntries(normal)
}

function fieldsError(what: string, happened: string, field: string): InvokeError {
  return new InvokeError("invalid_params", {
    happened,
    detail: { part: what, issues: [{ path: field, message: happened }] },
  })
}

export interface DerivedKey {
  /** The tool's first name; survives renames. */
  readonly namespace: string
  readonly identity_version: string
  readonly fields: NormalFields
  /** The operation this is a deliberate repeat of: a retry of the repeat is the same repeat. */
  readonly repeat_of?: string
}

export function deriveKey({ namespace, identity_version, fields, repeat_of }: DerivedKey, sha256: Sha256): string {
  return `d:${hash(["invoke-key-1", namespace, identity_version, fields, repeat_of ?? null], sha256)}`
}

/** The digest that names an intent slot within (tenant, namespace). */
export function intentDigest(
  { namespace, fields }: { readonly namespace: string; readonly fields: NormalFields },
  sha256: Sha256,
): string {
  return hash(["invoke-intent-1", namespace, fields], sha256)
}

/** The fallback where a tool declares no identity and the call brings no key: one run, one tool, one set of parameters. */
export function runKey(
  { run_id, tool, params }: { readonly run_id: string; readonly tool: string; readonly params: Json },
  sha256: Sha256,
): string {
  return `r:${hash(["invoke-run-key-1", run_id, tool, params], sha256)}`
}

/** A key chosen under an agent's rights belongs to its run. The run is encoded, so that no run and key read as another's. */
export function scopedKey(run_id: string, key: string): string {
  return `a:${encodeURIComponent(part(run_id, "run_id"))}:${part(key, "idempotency_key")}`
}

/** Names the compensation of one object of one operation. Only the object's id counts: undoing twice is worse than a refusal. */
export function compensateKey(operation_id: string, object_id: string): string {
  return `compensate:${operation_id}:${part(object_id, "object_id")}`
}

/** A caller's own key, checked. Throws `invalid_request`. */
export function checkExplicitKey(key: unknown): string {
  const name = part(key, "idempotency_key")
  if (name.length > DEFAULTS.key_length_max) {
    throw keyError(
      "idempotency_key",
      `is longer than ${DEFAULTS.key_length_max} characters`,
      "Send a digest of it instead.",
    )
  }
  const prefix = RESERVED_KEY_PREFIXES.find((one) => name.toLowerCase().startsWith(one))
  if (prefix !== undefined) {
    throw keyError(
      "idempotency_key",
      `begins with "${prefix}", which only Invoke writes`,
      "Put another word in front of it.",
    )
  }
  return name
}

/** Printable, whole, not blank at either end: a key that looks equal to another one is equal to it. */
function part(value: unknown, name: string): string {
  if (typeof value !== "string") throw keyError(name, "is not a string", "Send a string.")
  if (value === "") throw keyError(name, "is empty", "Leave it out, or send the name of the action.")
  if (/\p{Surrogate}|\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u.test(value)) {
    throw keyError(name, "holds characters that cannot be printed", "Use printable characters.")
  }
  if (value !== value.trim()) throw keyError(name, "begins or ends with white space", "Trim it.")
  return value
}

function keyError(name: string, what: string, fix: string): InvokeError {
  return new InvokeError("invalid_request", { happened: `${name} ${what}`, fix, detail: { field: name } })
}

function hash(preimage: Json, sha256: Sha256): string {
  return sha256(canonicalJson(preimage))
}
