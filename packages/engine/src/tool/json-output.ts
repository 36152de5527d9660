/**
 * Output goes through JSON once, so that the first caller gets what a replay gets.
 *
 * Owns: the type of that (`Jsonify`) and the one place where it happens (`jsonOutput`).
 * Must not: throw. The effect took place; output that cannot be stored is told, never turned into a failure.
 */
import { DEFAULTS, NotJsonError, canonicalJson, type Json } from "@invokejs/protocol"

/** What `JSON.parse(JSON.stringify(value))` gives for a `T`. */
export type Jsonify<T> = unknown extends T
  ? Json
  : T extends { toJSON(...args: never[]): infer R }
    ? Jsonify<R>
    : T extends string | number | boolean | null
      ? T
      : T extends undefined | void
        ? null
        : T extends bigint | symbol | ((...args: never[]) => unknown)
          ? never
          : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | WeakMap<never, unknown> | WeakSet<never>
            ? { [name: string]: never }
            : T extends readonly unknown[]
              ? { [Index in keyof T]: JsonifyElement<T[Index]> }
              : JsonifyObject<T>

/** Arrays keep their places: what JSON cannot say becomes null there. */
type JsonifyElement<T> = [T] extends [bigint]
  ? never
  : Unsaid<T> extends never
    ? Jsonify<T>
    : Jsonify<Exclude<T, Unsaid<T>>> | null

type Unsaid<T> = unknown extends T ? never : Extract<T, undefined | symbol | ((...args: never[]) => unknown)>

type Kept<T> = {
  [K in keyof T]-?: K extends string | number
    ? [T[K]] extends [undefined | symbol | ((...args: never[]) => unknown)]
      ? never
      : K
    : never
}[keyof T]

type MaybeGone<T, K extends keyof T> = unknown extends T[K] ? true : undefined extends T[K] ? true : false

/** Objects lose members that JSON cannot say; a member that may be undefined may be missing. */
type JsonifyObject<T> = Flat<
  { [K in Kept<T> as MaybeGone<T, K> extends true ? never : K]: Jsonify<Exclude<T[K], Unsaid<T[K]>>> } & {
    [K in Kept<T> as MaybeGone<T, K> extends true ? K : never]?: Jsonify<Exclude<T[K], Unsaid<T[K]>>>
  }
>

type Flat<T> = { [K in keyof T]: T[K] }

export type JsonOutput = { readonly output: Json } | { readonly output: null; readonly output_error: string }

/** Values that JSON writes as `{}` although they hold something: the author forgot to read or convert them. */
const OPAQUE_TAGS = [
  "[object Response]",
  "[object Error]",
  "[object Map]",
  "[object Set]",
  "[object Promise]",
  "[object Blob]",
  "[object ReadableStream]",
]

/** The value as a replay will give it. Nothing returned is null. */
export function jsonOutput(value: unknown, bytes_max: number = DEFAULTS.output_bytes_max): JsonOutput {
  if (value === undefined) return { output: null }
  const tag = Object.prototype.toString.call(value)
  if (OPAQUE_TAGS.includes(tag)) return refused(`a ${tag.slice(8, -1)} cannot be stored; return its content`)
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    return refused("it cannot be written as JSON: it contains itself, holds a bigint, or its toJSON failed")
  }
  if (text === undefined) return refused(`a ${typeof value} cannot be stored`)
  try {
    const output = JSON.parse(text) as Json
    canonicalJson(output, { bytes_max })
    return { output }
  } catch (error) {
    return refused(error instanceof NotJsonError ? error.message : "it cannot be read back from JSON")
  }
}

/** The place inside a document can be long; the words about it need not be. */
const ERROR_LENGTH_MAX = 300

function refused(why: string): JsonOutput {
  return { output: null, output_error: why.slice(0, ERROR_LENGTH_MAX) }
}
