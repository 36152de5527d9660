export { canonicalJson, parseJson, isJson, utf8Length, NotJsonError } from "./canonical-json.ts"
export type { Json, JsonBounds, NotJsonCode } from "./canonical-json.ts"
export { pathText } from "./json-path.ts"
export type { PathStep } from "./json-path.ts"
export { id, text, minor, decimal, literal, isTyped, typedEquals, TypedValueError } from "./typed-value.ts"
export { instant, compareInstants } from "./instant.ts"
export { currencyExponent, currencyCodes } from "./currency.ts"
export {
  RESERVED_KEY_PREFIXES,
  normaliseFields,
  deriveKey,
  intentDigest,
  runKey,
  scopedKey,
  compensateKey,
  checkExplicitKey,
} from "./identity.ts"
export type { DerivedKey, NormalFields } from "./identity.ts"
export { fingerprint, differingFields } from "./fingerprint.ts"
export type { Sha256 } from "./fingerprint.ts"
export { providerKey, checkProviderKeyForm } from "./provider-key.ts"
export type { ProviderKeyParts, ProviderKeyForm } from "./provider-key.ts"
export { nextAttemptAt, nextProbeAt, probeBudgetSpent, RETRY_AFTER_MAX_MS } from "./retry-schedule.ts"
export type { AttemptTiming, ProbeTiming } from "./retry-schedule.ts"
export { compare, compareAll, readPath } from "./compare.ts"
export type { CompareOutcome } from "./compare.ts"
export { safePattern, PatternError, PATTERN_LENGTH_MAX } from "./safe-pattern.ts"
export type { SafePattern } from "./safe-pattern.ts"
export { ERRORS, ERROR_CODES, JOURNAL_ERRORS, errorDocs, isErrorCode } from "./error-registry.ts"
export type { ErrorCode, SameCallAgain } from "./error-registry.ts"
export { InvokeError, problemOf } from "./invoke-error.ts"
export { DEFINITE_STATUSES, WORD_STATUSES, NEVER_DEFINITE, statusMeaning } from "./definite-status.ts"
export type { StatusMeaning } from "./definite-status.ts"
export { classifyOutcome, neverLeft } from "./classify-outcome.ts"
export type { Classified, OutcomeFacts, StageObservation, ToolWord } from "./classify-outcome.ts"
export { retryAfterMs } from "./retry-after.ts"
export {
  RESULT_TABLE,
  ROW_IDS,
  RESULT_STATUSES,
  FINAL_OUTCOMES,
  DECISIONS,
  RETRIES,
  isResultCore,
} from "./result-table.ts"
export type { RowId, ResultCore, ResultStatus, FinalOutcome, Decision, Retry, PlanChange } from "./result-table.ts"
export { selectRow } from "./select-row.ts"
export type { CallerRights, Circumstances } from "./select-row.ts"
export { buildResult } from "./result.ts"
export type { Result, ResultFields } from "./result.ts"
export type { EvidenceSummary } from "./evidence-summary.ts"
export type { TraceStep } from "./operation-trace.ts"
export { agentText } from "./agent-text.ts"
export type { AgentTextFacts } from "./agent-text.ts"
export { VERBS, VERB_NAMES, RIGHTS, verbsFrom, supersedeRight } from "./verbs.ts"
export type { Verb, Right } from "./verbs.ts"
export { resultSchema, resultFieldsSchema, jsonSchema, parseResult } from "./result-schema.ts"
export { operationView, operationViewSchema } from "./operation-view.ts"
export type { OperationView } from "./operation-view.ts"
export type { InvokeErrorInput, Problem } from "./invoke-error.ts"
export { STATES, STATE_NAMES, SAFETY_CLASSES, isTerminal, isUnresolved, assertNever } from "./state.ts"
export type { State, TerminalState, OpenState, SafetyClass } from "./state.ts"
export { DEFAULTS } from "./defaults.ts"
export { stricter } from "./contract.ts"
export type { Contract, KeyContract, LookupContract, FenceContract, Proof, AppliedRule } from "./contract.ts"
export { RANKS, CAUSES, VERDICTS } from "./evidence.ts"
export type { Rank, Candidate, Finding, Evidence, Comparison, Typed, Expectation, Cause, Verdict } from "./evidence.ts"
export type { Operation, Attempt, AttemptStatus, Reason, ConfirmedObject, KeyKind } from "./operation.ts"
export { AUDIT_EVENT_TYPES, GENESIS_HASH, auditPreimage } from "./audit-event.ts"
export type { AuditEvent, AuditDraft, AuditEventType } from "./audit-event.ts"
export { INCIDENT_KINDS } from "./incident.ts"
export type { Incident, IncidentDraft, IncidentKind } from "./incident.ts"
export { judge } from "./judge.ts"
export type { Judgement } from "./judge/judgement.ts"
export { objectKey } from "./judge/context.ts"
export type { JudgeContext } from "./judge/context.ts"
export { transition } from "./transition.ts"
export type { Step, Transition, TransitionContext } from "./transition/step.ts"
export { propose, fillsSlot } from "./propose.ts"
export type { Proposal, Admission } from "./propose.ts"
export type {
  AttemptOutcome,
  DispatchEvent,
  Illegal,
  OperationEvent,
  OperationEventType,
  ResolveTo,
} from "./operation-event.ts"
export { nextStep, mayUseSameKey, needsLookBefore } from "./next-step.ts"
export type { NextStep, StepCapabilities } from "./next-step.ts"
export { attemptOverAt, isOpen, lastSendOf, protectedUntil, sendBefore, settledFrom } from "./windows.ts"
