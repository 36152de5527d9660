/** `invoke demo`: six acts on real processes, without keys and without a network. */
import { defineCommand } from "./define-command.ts"
import { interruptible } from "./interruptible.ts"

export const demoCommand = defineCommand<object>({
  brief: "The $500 invoice that became $1,000, and how it does not",
  details: "Exit 1 unless the provider's own ledger has the stated count in every act.",
  flags: {},
  async run(run) {
    const { stdout, colour } = run.world
    // Its providers and proxies are loaded for this command alone.
    const { demo } = await import("../demo/demo.ts")
    const lines: string[] = []
    const screen = run.json ? { write: (text: string) => lines.push(text), colour: false } : { write: stdout, colour }
    const exit = await interruptible(run, demo(screen))
    const json = run.json ? { ok: exit === 0, lines: lines.join("").split("\n") } : undefined
    return { exit, json, text: () => undefined }
  },
})
