/**
 * Every error code of Invoke: what it answers over HTTP and from the command line, and whether the same call may be made again.
 *
 * Owns: the one list. Docs, OpenAPI, SDK types and the CLI are drawn from it.
 *
 * ER1. Codes with `nothing_ran` mean: nothing ran and nothing was reserved. What happened to an operation is a Result, never an error.
 * ER2. `unsettled` and `not_in_place` are the two that `guard` throws about an operation: they carry its Result.
 * ER3. `agent_text` is our own words. It never repeats what a provider, a tool or a model wrote.
 */
export type SameCallAgain =
  | "after_code_change"
  | "with_other_params"
  | "after_reading_the_operation"
  | "same_key"
  | "no"

interface ErrorRow {
  /** null: it never crosses the wire (definition and `open`), or its status is the row's. */
  readonly http: number | null
  /** null: the exit code is the Result's. */
  readonly exit: number | null
  readonly title: string
  readonly same_call_again: SameCallAgain
  readonly nothing_ran: boolean
  /** What to do, for the person who reads the message. */
  readonly fix: string
  /** Members of `detail`. */
  readonly fields: readonly string[]
  readonly agent_text: string
}

const DEVELOPER =
  "Nothing ran. This is a mistake in the program, not in your arguments. Tell a person; do not call it again."
const LATER = "Nothing ran. The service could not take the call just now. The same call, unchanged, may be made later."
const VERB =
  "Nothing ran. The operation is not in the state this needs. Read the operation before anything else is done."

function definition(title: string, fix: string, fields: readonly string[] = ["tool"]): ErrorRow {
  return {
    http: null,
    exit: 2,
    title,
    same_call_again: "after_code_change",
    nothing_ran: true,
    fix,
    fields,
    agent_text: DEVELOPER,
  }
}

function badRequest(title: string, fix: string, fields: readonly string[]): ErrorRow {
  return {
    http: 400,
    exit: 2,
    title,
    same_call_again: "after_code_change",
    nothing_ran: true,
    fix,
    fields,
    agent_text: DEVELOPER,
  }
}

function refusedVerb(title: string, fix: string, fields: readonly string[]): ErrorRow {
  return {
    http: 409,
    exit: 4,
    title,
    same_call_again: "after_reading_the_operation",
    nothing_ran: true,
    fix,
    fields,
    agent_text: VERB,
  }
}

function notNow(http: number, title: string, fix: string, fields: readonly string[]): ErrorRow {
  return { http, exit: 1, title, same_call_again: "same_key", nothing_ran: true, fix, fields, agent_text: LATER }
}

function denied(
  http: number,
  exit: number,
  title: string,
  fix: string,
  fields: readonly string[],
  agent_text: string,
): ErrorRow {
  return { http, exit, title, same_call_again: "no", nothing_ran: true, fix, fields, agent_text }
}

export const ERRORS = {
  invalid_request: badRequest("The request is malformed", "Correct the named field.", ["field"]),
  unsupported_option: badRequest("The option is not supported", "Remove the option.", ["option"]),
  identity_required: badRequest(
    "The call has no identity",
    "Declare `identity` on the tool, or pass `idempotencyKey`, or `runId`.",
    ["tool"],
  ),

  definition_invalid: definition("The tool's definition is invalid", "Correct the definition.", ["tool", "path"]),
  applied_missing: definition(
    "The tool does not say what a returned value means",
    'Add `applied: "returned"`, `"2xx"` or a predicate, or return an `outcome`.',
  ),
  expect_missing: definition(
    "The tool has a probe but no `expect`",
    "Add `expect`, or `identity` from which `guard` makes it.",
  ),
  probe_without_cause: definition(
    "The probe cannot say why an object is ours",
    "Return `operationId`, `createdAt`, or declare a `resource` that the tool sets.",
  ),
  resource_missing: definition("A state-setting tool has no `resource`", "Declare the `resource` that the call sets."),
  duplicate_tool: definition("Two tools have one name or one namespace", "Rename one of them."),
  identity_changed: definition(
    "The identity of a tool changed without a new version",
    "Give the tool a new `identityVersion`, and keep the old function registered while its operations are recent.",
    ["tool", "identity_version", "operation_id"],
  ),
  config_invalid: definition("The configuration cannot be used", "Correct the named setting.", [
    "path",
    "line",
    "column",
  ]),
  journal_unusable: definition(
    "The journal cannot be opened safely",
    "Open it on a local file system, with the release it was written by or a newer one.",
    ["location", "cause"],
  ),

  unknown_tool: {
    http: 404,
    exit: 2,
    title: "No such tool",
    same_call_again: "after_code_change",
    nothing_ran: true,
    fix: "Register the tool, or use one of the known names.",
    fields: ["tool", "known"],
    agent_text: "Nothing ran. There is no tool of that name. Use one of the tools you were given.",
  },
  operation_not_found: {
    http: 404,
    exit: 2,
    title: "No such operation",
    same_call_again: "after_code_change",
    nothing_ran: true,
    fix: "Check the id and the tenant.",
    fields: ["operation_id"],
    agent_text: "There is no operation with that id. This says nothing about whether an action took place.",
  },
  invalid_params: {
    http: 422,
    exit: 2,
    title: "The parameters are invalid",
    same_call_again: "with_other_params",
    nothing_ran: true,
    fix: "Correct the named parameters.",
    fields: ["issues"],
    agent_text:
      "Nothing ran. The parameters were not accepted. Correct them and call the tool with corrected parameters.",
  },
  idempotency_key_reused: denied(
    422,
    4,
    "The key names another action",
    "Use the key only for the action it was first used for; a changed action is a supersede, or a new key.",
    ["operation_id", "tool", "fields"],
    "Nothing ran. This key already names another action. Do not call it again with another key: read that action first, or ask a person.",
  ),
  payload_too_large: denied(
    413,
    2,
    "The payload is too large",
    "Send a reference to the data instead of the data.",
    ["limit_bytes"],
    "Nothing ran. The parameters are too large. Send less.",
  ),
  unauthenticated: denied(401, 4, "No valid credentials", "Send a valid API key.", [], DEVELOPER),
  forbidden: denied(
    403,
    4,
    "The credentials do not allow this",
    "Use a key whose scopes allow it, or ask an operator.",
    ["scope"],
    "Nothing ran. You are not allowed to do this. Do not look for another way; ask a person.",
  ),

  supersedes_refused: refusedVerb("The operation cannot be superseded", "Read the operation and its newest revision.", [
    "operation_id",
    "state",
  ]),
  retry_refused: refusedVerb(
    "The operation cannot be retried",
    "Read the operation: another attempt may be running already.",
    ["operation_id", "state"],
  ),
  version_conflict: refusedVerb("The operation changed in the meantime", "Read it and decide again.", [
    "operation_id",
    "version",
  ]),
  illegal_transition: refusedVerb(
    "The operation's state does not allow this",
    "Read the operation: its state lists the verbs it hears.",
    ["operation_id", "state", "verb"],
  ),

  rate_limited: notNow(429, "Too many calls", "Make the same call, with the same key, after `retry_after_ms`.", [
    "limit",
  ]),
  overloaded: notNow(503, "Too much work is waiting", "Make the same call, with the same key, later.", []),
  draining: notNow(
    503,
    "The process is shutting down",
    "Make the same call, with the same key, at another process.",
    [],
  ),
  journal_unavailable: notNow(503, "The journal cannot be written", "Make the same call, with the same key, later.", [
    "journal_code",
  ]),
  quarantined: notNow(503, "The journal is in quarantine", "An operator reads `invoke quarantine show` and lifts it.", [
    "since",
    "reason",
  ]),
  internal: {
    http: 500,
    exit: 1,
    title: "Invoke failed before anything was sent",
    same_call_again: "same_key",
    nothing_ran: true,
    fix: "Report it. The same call, with the same key, is safe.",
    fields: [],
    agent_text: LATER,
  },

  unsettled: {
    http: null,
    exit: null,
    title: "It is not settled whether the action took effect",
    same_call_again: "same_key",
    nothing_ran: false,
    fix: "Read `.result`. The same call, with the same key, joins the operation and starts nothing.",
    fields: ["operation_id", "status"],
    agent_text: "The action is not settled. Do not start it in another way.",
  },
  not_in_place: {
    http: null,
    exit: null,
    title: "The effect is not in place",
    same_call_again: "after_reading_the_operation",
    nothing_ran: false,
    fix: "Read `.result`: its `decision` and `retry` say what may follow.",
    fields: ["operation_id", "status"],
    agent_text: "The effect of the action is not in place. Read its decision before anything else is done.",
  },
} as const satisfies { readonly [code: string]: ErrorRow }

export type ErrorCode = keyof typeof ERRORS
export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[]

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(ERRORS, code)
}

/** Where the docs explain the code: a page of its own. */
export function errorDocs(code: ErrorCode): string {
  return `docs/reference/errors/${code}.md`
}

/**
 * Journal errors that reach a caller before the intent commit. `commit_in_doubt` is missing on purpose: an admission in
 * doubt is an operation whose Result is `unknown`, never an error.
 */
export const JOURNAL_ERRORS = {
  journal_unavailable: "journal_unavailable",
  journal_full: "journal_unavailable",
  journal_read_only: "journal_unavailable",
  journal_corrupt: "journal_unavailable",
  journal_replaced: "journal_unavailable",
  journal_closed: "draining",
  journal_newer: "journal_unusable",
  journal_unsafe_location: "journal_unusable",
  overloaded: "overloaded",
} as const satisfies { readonly [code: string]: ErrorCode }
