/** What applications import as `Invoke`: the door of the embedded engine, and its type. */
import type { AnyTool, Invoke as EmbeddedInvoke } from "@invokejs/engine"
import { open } from "./open.ts"

/** The embedded engine: `Invoke.open({ journal: "./invoke.db" })`. */
export const Invoke = { open } as const
export type Invoke<Tools extends readonly AnyTool[] = readonly AnyTool[]> = EmbeddedInvoke<Tools>
