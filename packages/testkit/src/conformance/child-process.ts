/** A real process that opens the store under test: kills, stops and races are done to it, not simulated. */
import { spawn } from "node:child_process"
import type { ChildProcess as NodeProcess } from "node:child_process"
import { fileURLToPath } from "node:url"

import type { JournalStore } from "./journal-store.ts"
import { waitFor } from "./wait-for.ts"

export interface ChildProcess {
  readonly pid: number
  /** The lines it has written so far, complete ones only. */
  readonly lines: readonly string[]
  /** Waits for the first line that starts with `word`, and answers with the rest of it. */
  line(word: string): Promise<string>
  signal(name: NodeJS.Signals): void
  /** Ends it without a chance to tidy up, and waits until it is gone. */
  kill(): Promise<void>
  /** Waits until it ends by itself. */
  ended(): Promise<number | null>
}

export function spawnChild(store: JournalStore, script: string, words: readonly string[]): ChildProcess {
  const program = fileURLToPath(new URL("./journal-child.js", import.meta.url))
  const { module, argument } = store.child
  const child = spawn(process.execPath, [program, module, argument, script, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  const said = collect(child)
  const exit = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)))
  let over = false
  void exit.then(() => (over = true))
  return {
    pid: child.pid ?? -1,
    lines: said.lines,
    line: async (word) => {
      const find = (): string | undefined => said.lines.find((line) => line.startsWith(`${word} `) || line === word)
      await waitFor(
        `the child says "${word}" (so far: ${said.lines.join(" | ")} ${said.errors()})`,
        () => over || find() !== undefined,
      )
      const found = find()
      if (found === undefined) throw new Error(`the child ended without saying "${word}": ${said.errors()}`)
      return found.slice(word.length + 1)
    },
    signal: (name) => void child.kill(name),
    kill: async () => {
      child.kill("SIGKILL")
      await exit
    },
    ended: () => exit,
  }
}

function collect(child: NodeProcess): { readonly lines: string[]; readonly errors: () => string } {
  const lines: string[] = []
  let rest = ""
  let errors = ""
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const parts = `${rest}${text}`.split("\n")
    rest = parts.pop() ?? ""
    lines.push(...parts)
  })
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text))
  return { lines, errors: () => errors }
}
