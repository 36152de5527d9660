export { FaultProxy, type FaultProxyOptions } from "./fault-proxy/fault-proxy.ts"
export type {
  AnswerFault,
  CutPlace,
  Direction,
  EndBy,
  Fault,
  FaultMatch,
  FaultRule,
  RequestFault,
  ScriptedAnswer,
} from "./fault-proxy/fault.ts"
export type { HeldRequest, LandedRequest } from "./fault-proxy/held-requests.ts"
export type { ProxyCounters, ProxyRecordEntry } from "./fault-proxy/proxy-record.ts"
export type { AnswerRule, AnswerStage } from "./providers/answer-rules.ts"
export type { GatePlace } from "./providers/gate.ts"
export type { Effect, LedgerLine } from "./providers/ledger-line.ts"
export type { ProviderName, ProviderSettings } from "./providers/provider-kinds.ts"
export { RunningProvider, startProvider, type StartProviderOptions } from "./providers/start-provider.ts"
export type { StripeSettings } from "./providers/stripe/stripe-settings.ts"
export type { MailSettings } from "./providers/mail/mail-provider.ts"
export type { TicketSettings } from "./providers/ticket/ticket-provider.ts"
export { journalConformance, type ConformanceTest } from "./conformance/journal-conformance.ts"
export type { JournalStore, JournalSubject, Tampering } from "./conformance/journal-store.ts"
export {
  admission,
  admitted,
  advance,
  dispatch,
  newOperation,
  registered,
  written,
} from "./conformance/operation-records.ts"
export { ManualClock } from "./clock/manual-clock.ts"
export { simulate, type RunResult } from "./simulator/simulate.ts"
export { FaultCounts } from "./simulator/fault-counts.ts"
export { FLOORS_FROM_RUNS, shortfalls } from "./simulator/floors.ts"
export { shrink } from "./simulator/shrink.ts"
export { modelCheck, type Walk } from "./model/model-check.ts"
export { CONFIGURATIONS, SEEDED_BUGS, type ModelConfiguration, type SeededBug } from "./model/model-configuration.ts"
export { proveTools, type CaseReport, type ProveOptions, type ToolReport } from "./prover/prove-tools.ts"
export { PROVE_CODES, type ProveCode, type ProveVerdict } from "./prover/finding.ts"
export type { ProveEntry, ToolsAt } from "./prover/prove-module.ts"
export type { Fake, FakeAnswer, FakeAtUrl, FakeInProcess, FakeRequest, FakeWorld } from "./prover/fake-provider.ts"
export {
  causesOf,
  figureLine,
  figuresOf,
  groupsOf,
  isFinding,
  type FoundCause,
  type GroupFigures,
  type ProveFigures,
} from "./prover/prove-summary.ts"
export { recordedProvider, type RecordedExchange, type Recording } from "./prover/recorded-provider.ts"
