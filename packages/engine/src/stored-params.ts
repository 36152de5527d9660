/** Stored parameters, parsed with today's schema. One that throws on what it once took is one that refuses it. */
import type { Json } from "@invokejs/protocol"
import type { CompiledTool } from "./tool/compiled-tool.ts"

export async function parseStored(tool: CompiledTool, params: Json): ReturnType<CompiledTool["parse"]> {
  try {
    return await tool.parse(params)
  } catch {
    return { ok: false, issues: [] }
  }
}
