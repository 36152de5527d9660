export { CLOCK_TOLERANCE_MS, JOURNAL_ERROR_CODES, JournalError } from "./ports/journal.ts"
export type {
  AdmissionView,
  AdmitWrite,
  AdvanceWrite,
  CompareAndSet,
  Conflict,
  DispatchWrite,
  DueAnswer,
  DueQuery,
  Journal,
  JournalErrorCode,
  JournalIdentity,
  JournalWorkers,
  JournalWrite,
  KeyRow,
  Lease,
  ObjectRow,
  OperationChange,
  OperationFilter,
  Page,
  PurgeResult,
  Quarantine,
  Slot,
  SlotChange,
  SlotName,
  StoredCheckpoint,
  WorkerRow,
  WriteResult,
} from "./ports/journal.ts"
export type { Clock } from "./ports/clock.ts"
export type { Random } from "./ports/random.ts"
export type { Ids } from "./ports/ids.ts"
export type { Telemetry } from "./ports/telemetry.ts"
export { Invoke } from "./invoke.ts"
export type { OpenOptions } from "./invoke.ts"
export { describeTool } from "./tool/describe-tool.ts"
export type { CallOf, ResultOf, TypedResult } from "./tool/call-types.ts"
export type { EngineOptions } from "./engine.ts"
export type { Operator, ResolveOptions, VerbOptions } from "./operate/operator.ts"
export type { CallOptions } from "./admission/call-options.ts"
export type { Attention, AttentionListener } from "./attention.ts"
export type { Checkpoint } from "./checkpoints.ts"
export { verifyChain } from "./audit/verify-chain.ts"
export type { ChainFault } from "./audit/verify-chain.ts"
export { systemClock } from "./adapters/system-clock.ts"
export { systemIds, systemRandom } from "./adapters/system-ids.ts"
export { thisMachine } from "./adapters/machine.ts"
export { sha256 } from "./adapters/sha256.ts"
export type { Machine } from "./dispatch/worker.ts"
export { defineTool } from "./tool/define-tool.ts"
export { guardTool } from "./tool/guard-tool.ts"
export type { Guarded } from "./tool/guard-tool.ts"
export { outcome, OutcomeError } from "./tool/outcome.ts"
export type { AcceptedOutcome, AppliedOutcome, OutputFrom } from "./tool/outcome.ts"
export { absent, collided, fenced, found, notApplied, unsure } from "./tool/probe-answer.ts"
export type { FoundObject, ProbeWord, FenceWord } from "./tool/probe-answer.ts"
export type { AttemptContext, InvokeFetch, ProbeContext } from "./tool/compiled-tool.ts"
export type { ContractInput } from "./tool/contract-input.ts"
export { durationMs } from "./tool/duration.ts"
export type { Duration } from "./tool/duration.ts"
export type { Jsonify } from "./tool/json-output.ts"
export type { AnyTool, OutputOf, ParamsOf, Tool, ToolName } from "./tool/tool.ts"
export type { ExpectationInput, Fields, GuardOptions, ToolDefinition } from "./tool/tool-definition.ts"
export { createTransport } from "./dispatch/transport/transport.ts"
export type { Transport, TransportOptions } from "./dispatch/transport/transport.ts"
export type { AttemptTransport, AttemptTransportOptions } from "./dispatch/transport/attempt-transport.ts"
export type { AttemptObservation, Stage } from "./dispatch/transport/attempt-observation.ts"
export { TransportError } from "./dispatch/transport/transport-error.ts"
export type { TransportErrorCode } from "./dispatch/transport/transport-error.ts"
