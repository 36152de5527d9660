/** The tools this engine can run, by every name their operations may carry. */
import { InvokeError, type Operation } from "@invokejs/protocol"
import type { CompiledTool } from "./compiled-tool.ts"

export class ToolSet {
  readonly #byName = new Map<string, CompiledTool>()
  readonly #names: string[] = []

  constructor(tools: readonly CompiledTool[] = []) {
    for (const tool of tools) this.add(tool)
  }

  add(tool: CompiledTool): void {
    for (const name of [tool.name, ...tool.aliases]) {
      if (this.#byName.has(name)) {
        throw new InvokeError("duplicate_tool", { happened: `two tools are called ${name}`, detail: { tool: name } })
      }
      this.#byName.set(name, tool)
      this.#names.push(name)
    }
  }

  named(name: string): CompiledTool | null {
    return this.#byName.get(name) ?? null
  }

  of(operation: Operation): CompiledTool | null {
    return this.#byName.get(operation.tool) ?? this.#byName.get(operation.namespace) ?? null
  }

  names(): readonly string[] {
    return this.#names
  }
}
