/** Tools from a module that the user names. Nothing is searched for: the path is explicit. */
import type { AnyTool } from "@invokejs/engine"
import { InvokeError, type Operation } from "@invokejs/protocol"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { Run } from "./define-command.ts"

export async function loadTools(run: Run, file: string): Promise<readonly AnyTool[]> {
  const { path, exported } = await loadModule(run, file, "Check --tools.")
  const tools = exported["tools"] ?? exported["default"]
  if (!Array.isArray(tools)) {
    throw unusable(path, "exports no list of tools", "Write: export const tools = [defineTool({ … })].")
  }
  if (tools.length === 0) throw unusable(path, "exports an empty list of tools", "Put a tool into it.")
  // Each one is checked when the engine compiles it.
  return tools as readonly AnyTool[]
}

/** Everything that the module exports. */
export async function loadModule(
  run: Run,
  file: string,
  check: string,
): Promise<{ readonly path: string; readonly exported: { readonly [name: string]: unknown } }> {
  const path = resolve(run.world.folder, file)
  if (!existsSync(path)) throw unusable(path, "is not there", check)
  return { path, exported: await load(path) }
}

async function load(path: string): Promise<{ readonly [name: string]: unknown }> {
  try {
    return (await import(pathToFileURL(path).href)) as { readonly [name: string]: unknown }
  } catch (error) {
    // The fault of a tool's definition says best itself what is wrong.
    if (InvokeError.is(error)) throw error
    const what = error instanceof Error ? error.message : String(error)
    throw unusable(path, `cannot be loaded: ${what}`, "Correct the module.", error)
  }
}

function unusable(path: string, what: string, fix: string, cause?: unknown): InvokeError {
  return new InvokeError("config_invalid", { happened: `${path} ${what}`, fix, detail: { path }, cause })
}

/** Refuses a module that cannot carry the operation on: the command would wait for nobody. */
export function requireTool(tools: readonly AnyTool[], operation: Operation, file: string): void {
  const names = tools.flatMap(namesOf)
  if (names.includes(operation.tool) || names.includes(operation.namespace)) return
  throw new InvokeError("unknown_tool", {
    happened: `${file} has no tool ${operation.tool}`,
    fix: `Pass the module that defines it. This one has: ${names.join(", ")}.`,
    detail: { tool: operation.tool, known: names },
  })
}

/** The name of a tool and the names it had before. What is no tool has none; the engine refuses it with words. */
function namesOf(tool: AnyTool): readonly string[] {
  const { name, "~definition": definition } = tool as { readonly name?: unknown; readonly "~definition"?: unknown }
  const was = (definition as { readonly was?: unknown } | undefined)?.was
  return [name, was].flat().filter((one) => typeof one === "string")
}
