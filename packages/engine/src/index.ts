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
