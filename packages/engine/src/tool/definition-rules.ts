/**
 * Refuses a definition whose options, each right by itself, say too little, too much, or two things at once.
 *
 * Owns: the rules between options, as data: what is wrong, and the fix as code.
 *
 * DR1. What a rule refuses here cannot be refused later without something having run.
 * DR2. A provider's proof never makes a tool bolder here; belief in `key` and `fence` is decided by the engine.
 */
import { checkProviderKeyForm, DEFAULTS, type ErrorCode } from "@invokejs/protocol"
import { definitionError } from "./definition-error.ts"
import { durationMs } from "./duration.ts"
import { FIRST_IDENTITY_VERSION } from "./identify.ts"

interface Said {
  readonly [option: string]: unknown
}

interface Rule {
  readonly code: ErrorCode
  readonly path: string
  readonly broken: (definition: Said, contract: Said) => boolean
  readonly what: string
  readonly fix: string
}

const RULES: readonly Rule[] = [
  {
    code: "definition_invalid",
    path: "was",
    broken: (d) => new Set([d["name"], d["was"]].flat()).size !== [d["name"], d["was"]].flat().length,
    what: "`was` repeats a name of this tool",
    fix: 'Write the earlier names, each once, oldest first: `was: ["charge_card"]`.',
  },
  {
    code: "definition_invalid",
    path: "deadline",
    broken: (d) =>
      (durationMs(d["timeout"]) ?? DEFAULTS.timeout_ms) > (durationMs(d["deadline"]) ?? DEFAULTS.deadline_ms),
    what: "one attempt's `timeout` is longer than the `deadline` of all of them",
    fix: 'Write `timeout: "30s", deadline: "24h"`.',
  },
  {
    code: "definition_invalid",
    path: "fence",
    broken: (d) => d["fence"] !== undefined && d["probe"] === undefined,
    what: "a `fence` without a `probe` cannot tell what holds the name it wins or loses",
    fix: "Write `probe: async ({ params, fetch }) => …`, or remove `fence`.",
  },
  {
    code: "definition_invalid",
    path: "probe",
    broken: (d) => d["safety"] === "write-once-checkable" && d["probe"] === undefined,
    what: "`write-once-checkable` needs a `probe`: without one an unknown outcome can only go to a person",
    fix: 'Write `probe: async ({ params, fetch }) => found({ id, operationId, state }) | absent({ complete: true })`, or `safety: "irreversible"`.',
  },
  {
    code: "expect_missing",
    path: "expect",
    broken: (d) => d["safety"] !== undefined && d["probe"] !== undefined && d["expect"] === undefined,
    what: "a `probe` without `expect` cannot tell our object from another one",
    fix: 'Write `expect: (p) => ({ match: { customer: id(p.customer) }, effect: { paid: true }, invariant: { amount: minor(p.amount, "usd") } })`.',
  },
  {
    code: "definition_invalid",
    path: "probe",
    broken: (d) => d["expect"] !== undefined && d["probe"] === undefined,
    what: "`expect` has no `probe` that would look",
    fix: "Write `probe: async ({ params, fetch }) => …`, or remove `expect`.",
  },
  {
    code: "definition_invalid",
    path: "safety",
    broken: (d) =>
      (d["safety"] === "irreversible" || d["safety"] === "read-only") && (d["probe"] ?? d["fence"]) !== undefined,
    what: "its class has nothing to look for, but there is a `probe` or a `fence`",
    fix: 'Write `safety: "write-once-checkable"`, or remove `probe` and `fence`.',
  },
  {
    code: "definition_invalid",
    path: "safety",
    broken: (d) => d["safety"] === "read-only" && READ_ONLY_HAS_NO.some((option) => d[option] !== undefined),
    what: `a read-only tool changes nothing, so it has none of ${"`applied`, `classify`, `contract`, `intent`, `resource`, `repeatWindow`, `retryOnRepeat`, `settleBy`"}`,
    fix: 'Remove them, or give the tool the class of what it changes: `safety: "write-once-checkable"`.',
  },
  {
    code: "definition_invalid",
    path: "journaled",
    broken: (d) => d["journaled"] !== undefined && d["safety"] !== "read-only",
    what: "`journaled` is for read-only tools; every other call is journaled",
    fix: "Remove `journaled`.",
  },
  {
    code: "definition_invalid",
    path: "contract.key",
    broken: (d, contract) => d["safety"] === "idempotent" && contract["key"] === undefined,
    what: "`idempotent` needs the provider's key contract",
    fix: 'Write `contract: { key: { sentAs: "header:Idempotency-Key", retention: "24h" } }`, or another `safety`.',
  },
  {
    code: "definition_invalid",
    path: "applied",
    broken: (d, contract) =>
      d["applied"] !== undefined && contract["applied"] !== undefined && d["applied"] !== contract["applied"],
    what: "`applied` stands on the tool and in its contract, and they differ",
    fix: 'Keep one of them: `applied: "returned"`.',
  },
  {
    code: "applied_missing",
    path: "applied",
    broken: (d, contract) => d["safety"] !== "read-only" && (d["applied"] ?? contract["applied"]) === undefined,
    what: "it does not say what a returned value means (`fetch` does not throw on 500)",
    fix: 'Write `applied: "returned"` if it returns only after the provider said yes, `applied: "2xx"` with `transport: "invoke"`, `applied: (value) => value.ok`, or `applied: "outcome"` and return `outcome.applied(value)`.',
  },
  {
    code: "definition_invalid",
    path: "transport",
    broken: (d, contract) => (d["applied"] ?? contract["applied"]) === "2xx" && d["transport"] !== "invoke",
    what: '`applied: "2xx"` reads the answer of the effect request, which only Invoke\'s own transport sees',
    fix: 'Write `transport: "invoke"` and send every request through the context\'s `fetch`, or `applied: "returned"`.',
  },
  {
    code: "definition_invalid",
    path: "transport",
    broken: (d, contract) => contract["effect"] !== undefined && d["transport"] !== "invoke",
    what: "`contract.effect` names a request that only Invoke's own transport sees",
    fix: 'Write `transport: "invoke"`, or remove `effect`.',
  },
  {
    code: "definition_invalid",
    path: "identityVersions",
    broken: (d) =>
      d["identityVersions"] !== undefined &&
      (d["identity"] === undefined || Object.hasOwn(recordAt(d, "identityVersions") ?? {}, currentVersion(d))),
    what: "`identityVersions` holds earlier versions, and needs a newer `identity` with an `identityVersion` of its own",
    fix: 'Write `identityVersion: "2", identity: (p) => ({ … }), identityVersions: { "1": (p) => ({ … }) }`.',
  },
  {
    code: "definition_invalid",
    path: "identityVersion",
    broken: (d) => d["identityVersion"] !== undefined && d["identity"] === undefined,
    what: "`identityVersion` has no `identity` that it would be the version of",
    fix: "Write `identity: (p) => ({ invoice: id(p.invoice_id) })`.",
  },
  {
    code: "definition_invalid",
    path: "fence",
    broken: (d, contract) => (d["fence"] === undefined) !== (contract["fence"] === undefined),
    what: "`fence` and `contract.fence` need each other: what it does, and what winning the name proves",
    fix: 'Write `fence: async ({ marker, fetch }) => fenced()` and `contract: { fence: { kind: "tombstone", permanent: true } }`.',
  },
  {
    code: "definition_invalid",
    path: "contract.exclusive",
    broken: (d, contract) => contract["exclusive"] === true && d["resource"] === undefined,
    what: "`contract.exclusive` speaks of a resource, and the tool names none",
    fix: "Write `resource: (p) => `issue:${p.number}``, or remove `exclusive`.",
  },
  {
    code: "resource_missing",
    path: "resource",
    broken: (d, contract) => recordAt(contract, "lookup")?.["correlates"] === "state" && d["resource"] === undefined,
    what: '`correlates: "state"` is for tools that set the state of a resource, and it names none',
    fix: 'Write `resource: (p) => `issue:${p.number}``, or `correlates: "operation"`.',
  },
  {
    code: "probe_without_cause",
    path: "contract.lookup.correlates",
    broken: (d, contract) =>
      d["safety"] !== undefined &&
      d["probe"] !== undefined &&
      d["resource"] === undefined &&
      recordAt(contract, "lookup")?.["correlates"] === undefined,
    what: "its probe finds objects, but nothing says why one of them is ours",
    fix: 'Write `contract: { lookup: { correlates: "operation" } }` if objects carry the operation id or provider key, `correlates: "created"` if they carry a creation time, or `resource: (p) => …` if the call sets a state.',
  },
  {
    code: "definition_invalid",
    path: "contract.shared",
    broken: (d, contract) =>
      contract["shared"] === true &&
      d["probe"] !== undefined &&
      recordAt(contract, "lookup")?.["correlates"] !== "operation",
    what: "one object stands for many operations (`shared`), so only an operation id on it can say which",
    fix: 'Write `lookup: { correlates: "operation" }`, or remove `shared`.',
  },
]

function currentVersion(d: Said): string {
  const version = d["identityVersion"]
  return typeof version === "string" ? version : FIRST_IDENTITY_VERSION
}

const READ_ONLY_HAS_NO = [
  "applied",
  "classify",
  "contract",
  "intent",
  "resource",
  "repeatWindow",
  "retryOnRepeat",
  "settleBy",
]

/** The rules between options. Those that name `safety` first do not speak of `guard`, which has none. */
export function checkRules(tool: string, definition: Said): void {
  const contract = recordAt(definition, "contract") ?? {}
  for (const { broken, code, path, what, fix } of RULES) {
    if (broken(definition, contract)) throw definitionError(code, { tool, path, what, fix })
  }
  checkKeyForm(tool, recordAt(contract, "key"))
}

function checkKeyForm(tool: string, key: Said | null): void {
  if (!key) return
  const { maxLength, alphabet } = key
  try {
    checkProviderKeyForm({
      ...(typeof maxLength === "number" ? { max_length: maxLength } : {}),
      ...(typeof alphabet === "string" ? { alphabet } : {}),
    })
  } catch (cause) {
    throw definitionError("definition_invalid", {
      tool,
      path: "contract.key",
      what: `the key's form holds too little: ${cause instanceof Error ? cause.message : "it is unreadable"}`,
      fix: 'Write what the provider allows: `maxLength: 64, alphabet: "hex"`.',
      cause,
    })
  }
}

function recordAt(said: Said, option: string): Said | null {
  const value = said[option]
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Said) : null
}
