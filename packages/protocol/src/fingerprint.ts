/**
 * The fingerprint of parameters: SHA-256 over their canonical JSON, as given (protocol §2).
 *
 * Owns: the digest's preimage and the list of differing fields shown when one key comes with two parameter sets.
 * Must not: parse with a schema. Where fingerprints differ, the engine parses both with today's and compares again.
 */
import { canonicalJson, type Json, type JsonBounds } from "./canonical-json.ts"
import { pathText, type PathStep } from "./json-path.ts"

/** SHA-256 of a text's UTF-8 bytes, lower-case hex. Passed in, because hashing is the platform's. */
export type Sha256 = (text: string) => string

export function fingerprint(params: Json, sha256: Sha256, bounds: JsonBounds = {}): string {
  return sha256(canonicalJson(params, bounds))
}

/** Fields named at most; the message stays readable and a hostile document cannot fill a log. */
const FIELDS_MAX = 20

/** Paths at which two JSON values differ, in canonical order; at most `max`, the last then being `…`. */
export function differingFields(a: Json, b: Json, max: number = FIELDS_MAX): string[] {
  const found: string[] = []
  collect(a, b, [], found, max + 1)
  return found.length > max ? [...found.slice(0, max), "…"] : found
}

function collect(a: Json, b: Json, path: PathStep[], found: string[], limit: number): void {
  if (found.length >= limit || a === b) return
  if (Array.isArray(a) && Array.isArray(b)) {
    const length = Math.max(a.length, b.length)
    for (let index = 0; index < length && found.length < limit; index += 1) {
      descend(a[index] as Json | undefined, b[index] as Json | undefined, index, path, found, limit)
    }
    return
  }
  if (isObject(a) && isObject(b)) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
    for (const name of names) {
      if (found.length >= limit) return
      descend(own(a, name), own(b, name), name, path, found, limit)
    }
    return
  }
  found.push(pathText(path))
}

function descend(
  a: Json | undefined,
  b: Json | undefined,
  step: PathStep,
  path: PathStep[],
  found: string[],
  limit: number,
): void {
  path.push(step)
  if (a === undefined || b === undefined) found.push(pathText(path))
  else collect(a, b, path, found, limit)
  path.pop()
}

function own(value: { readonly [name: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
