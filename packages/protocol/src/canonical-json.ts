/**
 * Canonical JSON (RFC 8785): one text for one value, so that equal parameters have equal fingerprints and keys.
 *
 * Owns: what counts as JSON, and the one order and spelling it is written in.
 * Must not: repair. What is not JSON is refused with its place, because a silent repair (`Map` to `{}`, `undefined`
 * dropped, `Date` to text) makes two different actions look the same.
 *
 * CJ1. Equal values give equal texts, and `parseJson` of the text gives an equal value.
 * CJ2. Members are sorted by UTF-16 code units; numbers are written as ECMAScript writes them; -0 is 0.
 * CJ3. Only own data properties are read, each once; getters, prototypes and `toJSON` never run.
 * CJ4. Depth and size are bounded, so a cycle or a shared subtree cannot run away.
 */
import { pathText, type PathStep } from "./json-path.ts"

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

export interface JsonBounds {
  /** Arrays and objects inside each other. 64 is far beyond honest parameters and far below any stack's end. */
  readonly depth_max?: number
  /** UTF-8 bytes of the canonical text. */
  readonly bytes_max?: number
}

const DEPTH_MAX = 64
/** The largest response the transport accepts; callers with a smaller limit (parameters, output) pass it. */
const BYTES_MAX = 8 * 1024 * 1024

export type NotJsonCode = "not_json" | "too_deep" | "too_large"

/** A value that canonical JSON refuses. `path` says where it sits. */
export class NotJsonError extends Error {
  override readonly name = "NotJsonError"
  readonly code: NotJsonCode
  readonly path: string
  constructor(code: NotJsonCode, path: readonly PathStep[], what: string) {
    const place = pathText(path)
    super(`${place === "$" ? "the value" : place} ${what}`)
    this.code = code
    this.path = place
  }
}

interface Walk {
  readonly path: PathStep[]
  readonly open: Set<object>
  readonly depthMax: number
  readonly bytesMax: number
  bytes: number
}

/** The RFC 8785 text of a JSON value. Throws `NotJsonError` for anything that is not JSON, or is too deep or too large. */
export function canonicalJson(value: unknown, bounds: JsonBounds = {}): string {
  const walk: Walk = {
    path: [],
    open: new Set(),
    depthMax: bounds.depth_max ?? DEPTH_MAX,
    bytesMax: bounds.bytes_max ?? BYTES_MAX,
    bytes: 0,
  }
  return write(value, walk)
}

/** Parses JSON text into a value that `canonicalJson` accepts. Throws `NotJsonError`; the text is never quoted back. */
export function parseJson(text: string, bounds: JsonBounds = {}): Json {
  const bytesMax = bounds.bytes_max ?? BYTES_MAX
  if (text.length > bytesMax || utf8Length(text) > bytesMax) {
    throw new NotJsonError("too_large", [], `is larger than ${bytesMax} bytes`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new NotJsonError("not_json", [], "is not JSON text")
  }
  // Escapes may grow the text again, so only depth and form are checked here, against a size no escape can reach.
  canonicalJson(value, { ...bounds, bytes_max: Math.max(bytesMax * 6, 64) })
  return value as Json
}

export function isJson(value: unknown, bounds: JsonBounds = {}): value is Json {
  try {
    canonicalJson(value, bounds)
    return true
  } catch {
    return false
  }
}

/** UTF-8 bytes of a text, without encoding it. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // A pair of surrogates is four bytes for two units: one extra for each.
    bytes += unit < 0x8_00 || (unit >= 0xd8_00 && unit <= 0xdf_ff) ? 1 : 2
  }
  return bytes
}

const LONE_SURROGATE = /\p{Surrogate}/u

function refuse(walk: Walk, what: string): never {
  throw new NotJsonError("not_json", walk.path, what)
}

function emit(walk: Walk, text: string, bytes: number): string {
  walk.bytes += bytes
  if (walk.bytes > walk.bytesMax) {
    throw new NotJsonError("too_large", walk.path, `makes the document larger than ${walk.bytesMax} bytes`)
  }
  return text
}

function write(value: unknown, walk: Walk): string {
  switch (typeof value) {
    case "string":
      return writeString(value, walk)
    case "number":
      if (!Number.isFinite(value)) refuse(walk, `is ${value}, which JSON cannot say`)
      return ascii(JSON.stringify(value), walk)
    case "boolean":
      return ascii(value ? "true" : "false", walk)
    case "object":
      if (value === null) return ascii("null", walk)
      return writeNested(value, walk)
    case "undefined":
      return refuse(walk, "is undefined; leave it out or use null")
    case "bigint":
      return refuse(walk, "is a bigint; send it as a string")
    case "function":
      return refuse(walk, "is a function")
    case "symbol":
      return refuse(walk, "is a symbol")
    default:
      return refuse(walk, "is not JSON")
  }
}

function ascii(text: string, walk: Walk): string {
  return emit(walk, text, text.length)
}

function writeString(value: string, walk: Walk): string {
  // Every unit is at least one byte: a huge text is refused before it is escaped and copied.
  if (value.length > walk.bytesMax) emit(walk, "", value.length)
  if (LONE_SURROGATE.test(value)) refuse(walk, "holds half of a surrogate pair")
  const text = JSON.stringify(value)
  return emit(walk, text, utf8Length(text))
}

function writeNested(value: object, walk: Walk): string {
  if (walk.open.has(value)) refuse(walk, "contains itself")
  if (walk.open.size >= walk.depthMax) {
    throw new NotJsonError("too_deep", walk.path, `is nested deeper than ${walk.depthMax} levels`)
  }
  walk.open.add(value)
  const text = Array.isArray(value) ? writeArray(value, walk) : writeObject(value, walk)
  walk.open.delete(value)
  return text
}

function writeArray(value: readonly unknown[], walk: Walk): string {
  if (!isPlain(value, "map")) refuse(walk, "is an array of a class of its own")
  const length = value.length
  const names = Reflect.ownKeys(value)
  // Indices and `length`, nothing else: a hole has no index, an extra member would be lost in silence.
  if (names.length !== length + 1) {
    refuse(walk, names.length <= length ? "is an array with holes" : "is an array with extra members")
  }
  emit(walk, "", 2 + Math.max(0, length - 1))
  const parts: string[] = []
  for (let index = 0; index < length; index += 1) {
    walk.path.push(index)
    parts.push(write(ownData(value, String(index), walk), walk))
    walk.path.pop()
  }
  return `[${parts.join(",")}]`
}

function writeObject(value: object, walk: Walk): string {
  if (!isPlain(value, "isPrototypeOf")) refuse(walk, `is ${className(value)}, not a plain object`)
  const names: string[] = []
  for (const name of Reflect.ownKeys(value)) {
    if (typeof name === "symbol") refuse(walk, "has a member named by a symbol")
    names.push(name)
  }
  // The default sort compares UTF-16 code units, which is what RFC 8785 asks for.
  names.sort()
  emit(walk, "", 2 + Math.max(0, names.length * 2 - 1))
  const parts: string[] = []
  for (const name of names) {
    walk.path.push(name)
    const key = writeString(name, walk)
    parts.push(`${key}:${write(ownData(value, name, walk), walk)}`)
    walk.path.pop()
  }
  return `{${parts.join(",")}}`
}

function ownData(value: object, name: string, walk: Walk): unknown {
  const property = Object.getOwnPropertyDescriptor(value, name)
  if (!property) return refuse(walk, "is a hole")
  if (!("value" in property)) return refuse(walk, "is computed by a getter")
  if (property.enumerable !== true) return refuse(walk, "is hidden (not enumerable)")
  return property.value as unknown
}

/** A plain object or array of this realm or another one: its prototype ends the chain, or is `Array.prototype`. */
function isPlain(value: object, mark: "map" | "isPrototypeOf"): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null) return mark === "isPrototypeOf"
  if (typeof prototype !== "object") return false
  const above: unknown = Object.getPrototypeOf(prototype)
  const base = mark === "map" ? above : prototype
  if (base === null || typeof base !== "object") return false
  if ("toJSON" in prototype) return false
  return Object.getPrototypeOf(base) === null && Object.hasOwn(base, "isPrototypeOf") && Object.hasOwn(prototype, mark)
}

function className(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  const made: unknown =
    typeof prototype === "object" && prototype !== null
      ? Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
      : undefined
  return typeof made === "function" && made.name !== "" ? `a ${made.name}` : "an object of a class"
}
