/**
 * Every option a definition may have, what its value must be, and how it is written.
 *
 * Owns: the list. Types say the same (`Table` holds them equal). Rules between options stand in `definition-rules.ts`.
 */
import type { ContractInput, FenceInput, KeyInput, LookupInput, ProofInput, SourceInput } from "./contract-input.ts"
import { durationMs } from "./duration.ts"
import type { LooseDefinition } from "./loose-definition.ts"
import { isStandardSchema } from "./standard-schema.ts"

export interface OptionRule {
  readonly holds: (value: unknown) => boolean
  /** Completes "`timeout` must be …". */
  readonly expects: string
  /** The option as code. */
  readonly example: string
  readonly required?: boolean
}

export interface OptionTable {
  readonly [option: string]: OptionRule
}

type Table<Options> = { readonly [option in keyof Required<Options>]: OptionRule }

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "" && value.length <= 1_000
const isFunction = (value: unknown): boolean => typeof value === "function"
const isBoolean = (value: unknown): boolean => typeof value === "boolean"
const isRecord = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)
const isOneOf =
  (...words: readonly unknown[]) =>
  (value: unknown): boolean =>
    words.includes(value)
const isCount =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
const isDuration =
  (min: number, max: number) =>
  (value: unknown): boolean => {
    const ms = durationMs(value)
    return ms !== null && ms >= min && ms <= max
  }
const isListOf =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(holds)

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const YEAR = 366 * DAY

function text(example: string): OptionRule {
  return { holds: isText, expects: "a text that is not empty", example }
}
function fn(example: string): OptionRule {
  return { holds: isFunction, expects: "a function", example }
}
function flag(option: string): OptionRule {
  return { holds: isBoolean, expects: "true or false", example: `${option}: true` }
}
function word(option: string, ...words: readonly string[]): OptionRule {
  return {
    holds: isOneOf(...words),
    expects: words.map((one) => `"${one}"`).join(" or "),
    example: `${option}: "${words[0] ?? ""}"`,
  }
}
function duration(option: string, min: number, max: number, example: string): OptionRule {
  const bounds = `${min} ms to ${max} ms`
  return {
    holds: isDuration(min, max),
    expects: `a length of time such as "30s", or milliseconds, from ${bounds}`,
    example: `${option}: "${example}"`,
  }
}
function count(option: string, min: number, max: number): OptionRule {
  return { holds: isCount(min, max), expects: `a whole number from ${min} to ${max}`, example: `${option}: ${min + 1}` }
}

/** A letter first, then what every provider of models and MCP accept in a tool's name (adapters map the dot). */
const NAME = /^[A-Za-z](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?$/
const STATUS = isCount(100, 599)
const SENT_AS = /^(header|query|body|path):[^\s:]{1,128}$/
const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/

export const isToolName = (value: unknown): value is string => typeof value === "string" && NAME.test(value)

const name: OptionRule = {
  holds: isToolName,
  expects: "1 to 64 letters, digits, `_`, `-` or `.`, beginning with a letter and not ending in `.` or `-`",
  example: 'name: "billing.charge_customer"',
  required: true,
}

const COMMON = {
  name,
  version: text('version: "2"'),
  was: {
    holds: (value) => isToolName(value) || (isListOf(isToolName)(value) && (value as readonly unknown[]).length > 0),
    expects: "an earlier name, or a list of them, oldest first",
    example: 'was: ["charge_card"]',
  },
  description: text('description: "Charges a customer once."'),
  jsonSchema: {
    holds: isRecord,
    expects: "a JSON Schema object",
    example: 'jsonSchema: { type: "object", properties: {} }',
  },
  input: {
    holds: isStandardSchema,
    expects: "a Standard Schema (zod, valibot, arktype …)",
    example: "input: z.object({ invoice: z.string() })",
  },
  identity: fn("identity: (p) => ({ invoice: id(p.invoice_id) })"),
  identityVersion: text('identityVersion: "2"'),
  identityVersions: {
    holds: (value) => isRecord(value) && Object.values(value as object).every(isFunction),
    expects: "an object of functions, named by their versions",
    example: 'identityVersions: { "1": (p) => ({ invoice: id(p.invoice_id) }) }',
  },
  intent: fn("intent: (p) => ({ customer: id(p.customer_id) })"),
  contract: { holds: isRecord, expects: "an object", example: 'contract: { applied: "2xx" }' },
  applied: {
    holds: (value) => isFunction(value) || isOneOf("returned", "2xx", "outcome")(value),
    expects: '"returned", "2xx", "outcome" or a predicate',
    example: 'applied: "returned"',
  },
  transport: word("transport", "invoke"),
  classify: fn(
    "classify: ({ error }) => (error instanceof Declined ? outcome.rejected({ code: error.code }) : undefined)",
  ),
  resource: fn("resource: (p) => `issue:${p.number}`"),
  probe: fn("probe: async (p) => absent({ complete: true })"),
  expect: fn("expect: (p) => ({ match: { invoice: id(p.invoice) }, effect: { paid: true } })"),
  fence: fn("fence: async (p, { marker }) => fenced()"),
  timeout: duration("timeout", 1, DAY, "30s"),
  deadline: duration("deadline", 1, YEAR, "24h"),
  attempts: count("attempts", 1, 100),
  wait: duration("wait", 0, DAY, "60s"),
  repeatWindow: duration("repeatWindow", 0, YEAR, "24h"),
  settleBy: duration("settleBy", 1, YEAR, "72h"),
  retryOnRepeat: flag("retryOnRepeat"),
  allowPrivate: flag("allowPrivate"),
} satisfies OptionTable

/** What `defineTool` takes beside the common options. */
export const DEFINED_OPTIONS: OptionTable = {
  ...COMMON,
  input: { ...COMMON.input, required: true },
  safety: {
    ...word("safety", "read-only", "idempotent", "write-once-checkable", "irreversible"),
    required: true,
  },
  execute: { ...fn("execute: async ({ params, fetch }) => { … }"), required: true },
  journaled: flag("journaled"),
} satisfies Table<
  Omit<LooseDefinition, "form" | "run" | "look" | "wall"> & { execute: unknown; probe: unknown; fence: unknown }
>

const { fence: _fence, ...GUARDABLE } = COMMON

/** What `guard` takes: its function is the first argument, its class follows from `probe`. */
export const GUARD_OPTIONS: OptionTable = {
  ...GUARDABLE,
  identity: { ...COMMON.identity, required: true },
}

const proved: OptionRule = {
  holds: isRecord,
  expects: "when and against what the conformance probe passed",
  example: 'proved: { date: "2026-05-31", against: "the provider\'s sandbox" }',
}

export const CONTRACT_OPTIONS: OptionTable = {
  applied: word("applied", "returned", "2xx", "outcome"),
  definite: {
    holds: isListOf((value) => isCount(400, 599)(value) && !isOneOf(408, 500, 502, 504)(value)),
    expects: "a list of statuses from 400 to 599; 408, 500, 502 and 504 never prove non-application",
    example: "definite: [402, 409]",
  },
  key: {
    holds: isRecord,
    expects: "an object",
    example: 'key: { sentAs: "header:Idempotency-Key", retention: "24h" }',
  },
  lookup: { holds: isRecord, expects: "an object", example: 'lookup: { correlates: "operation" }' },
  fence: { holds: isRecord, expects: "an object", example: 'fence: { kind: "tombstone", permanent: true }' },
  exclusive: flag("exclusive"),
  shared: flag("shared"),
  many: flag("many"),
  effect: {
    holds: isRecord,
    expects: "the method and path of the effect request",
    example: 'effect: { method: "POST", path: "/v1/charges" }',
  },
  sources: {
    holds: isListOf(isRecord),
    expects: "a list of sources",
    example: 'sources: [{ url: "https://…", date: "2026-05-31", says: "…" }]',
  },
} satisfies Table<ContractInput>

export const KEY_OPTIONS: OptionTable = {
  sentAs: {
    holds: (value) => typeof value === "string" && SENT_AS.test(value),
    expects: "`header:`, `query:`, `body:` or `path:` and a name",
    example: 'sentAs: "header:Idempotency-Key"',
    required: true,
  },
  retention: duration("retention", 1, 10 * YEAR, "24h"),
  replay: word("replay", "stored", "executes", "finishes"),
  inFlight: word("inFlight", "refuses", "waits", "races"),
  replaysErrors: flag("replaysErrors"),
  onMismatch: word("onMismatch", "refuses", "ignores"),
  scope: text('scope: "account"'),
  maxLength: count("maxLength", 16, 512),
  alphabet: text('alphabet: "hex"'),
  answersForKey: { holds: isListOf(STATUS), expects: "a list of HTTP statuses", example: "answersForKey: [409]" },
  coveredHeaders: {
    holds: isListOf(isText),
    expects: "a list of header names",
    example: 'coveredHeaders: ["Stripe-Account"]',
  },
  proved,
} satisfies Table<KeyInput>

export const LOOKUP_OPTIONS: OptionTable = {
  correlates: word("correlates", "operation", "created", "state"),
  consistency: word("consistency", "strong", "bounded", "search"),
  maxExecution: duration("maxExecution", 0, YEAR, "5m"),
  visibility: duration("visibility", 0, YEAR, "1m"),
  negatives: count("negatives", 1, 100),
  spacing: duration("spacing", 0, DAY, "10s"),
  resolution: duration("resolution", 1, DAY, "1s"),
  skew: duration("skew", 0, DAY, "2s"),
  creationTime: flag("creationTime"),
} satisfies Table<LookupInput>

export const FENCE_OPTIONS: OptionTable = {
  kind: { ...word("kind", "tombstone"), required: true },
  permanent: flag("permanent"),
  proved,
} satisfies Table<FenceInput>

export const PROOF_OPTIONS: OptionTable = {
  date: {
    holds: (value) => typeof value === "string" && ISO_DATE.test(value) && !Number.isNaN(Date.parse(value)),
    expects: "a date such as 2026-05-31",
    example: 'date: "2026-05-31"',
    required: true,
  },
  against: { ...text('against: "the provider\'s sandbox"'), required: true },
} satisfies Table<ProofInput>

export const EFFECT_OPTIONS: OptionTable = {
  method: {
    ...word("method", "POST", "PUT", "PATCH", "DELETE"),
    required: true,
  },
  path: {
    holds: (value) => typeof value === "string" && /^\/\S{0,500}$/.test(value),
    expects: "a path that begins with `/`; `:name` stands for a segment, `*` for any rest",
    example: 'path: "/v1/charges"',
    required: true,
  },
}

export const SOURCE_OPTIONS: OptionTable = {
  url: { ...text('url: "https://…"'), required: true },
  date: PROOF_OPTIONS["date"] ?? proved,
  says: { ...text('says: "keys are kept for 24 hours"'), required: true },
} satisfies Table<SourceInput>

/** Promised in the design, not built yet: accepting one in silence would promise a protection that is not there. */
export const UNBUILT: { readonly [option: string]: string } = {
  approval: "approvals",
  steps: "several journaled steps in one tool",
  items: "several items in one request",
  isolate: "running a tool in a process of its own",
  undo: "automatic undo",
  compensate: "compensation by the tool",
  verifyAfter: "looking again after settlement",
  limits: "limits of rate and spend",
  limit: "limits of rate and spend",
  workflow: "workflows",
  policy: "policies on a tool",
  freeze: "frozen state",
  assumedState: "frozen state",
  thaw: "frozen state",
  webhook: "signed events as evidence",
  webhooks: "signed events as evidence",
  finalStates: "final states by name; say `final: true` in `found()`",
  account: "account and region in the request digest",
  region: "account and region in the request digest",
}
