import { Invoke as EmbeddedInvoke, type AnyTool } from "@invokejs/engine"
import { open } from "./open.ts"

/** The embedded engine: `Invoke.open({ journal: "./invoke.db" })`. */
export const Invoke = { open } as const
export type Invoke<Tools extends readonly AnyTool[] = readonly AnyTool[]> = EmbeddedInvoke<Tools>
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
