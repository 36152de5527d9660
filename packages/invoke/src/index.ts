export { Invoke } from "./invoke.ts"
export type { OpenOptions } from "./open.ts"
export { absent, collided, defineTool, fenced, found, notApplied, outcome, unsure } from "@invokejs/engine"
export type {
  Attention,
  AttemptContext,
  CallOptions,
  Checkpoint,
  ContractInput,
  Duration,
  FoundObject,
  GuardOptions,
  Operator,
  ProbeContext,
  ResolveOptions,
  ResultOf,
  Telemetry,
  Tool,
  ToolDefinition,
} from "@invokejs/engine"
export { decimal, id, instant, InvokeError, minor, text } from "@invokejs/protocol"
export type { Operation, Result } from "@invokejs/protocol"
