/** `invoke call`: one business action, made to happen once. */
import type { Duration } from "@invokejs/engine"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { waitTime } from "./flags.ts"
import { loadTools } from "./load-tools.ts"
import { readParams } from "./read-params.ts"
import { journalPath, withInvoke } from "./session.ts"
import { shownCommand } from "./shown-command.ts"
import { answerOf } from "./tell-operation.ts"

interface CallFlags extends JournalFlag {
  readonly tools: string
  readonly params: string
  readonly key?: string
  readonly runId?: string
  readonly agent?: string
  readonly wait?: number
  readonly create: boolean
}

export const callCommand = defineCommand<CallFlags, [tool: string]>({
  brief: "Make one call of a tool, once",
  details:
    "Prints the Result and exits with its code. The same call again joins or replays the operation; it starts nothing new. " +
    "An interrupt, or the end of --wait, ends the waiting and never the operation.",
  effect: true,
  flags: {
    ...JOURNAL_FLAG,
    tools: { kind: "parsed", parse: filled, brief: "Module that exports `tools`", placeholder: "FILE.js" },
    params: {
      kind: "parsed",
      parse: filled,
      brief: "Parameters: JSON, @FILE, or - for standard input",
      placeholder: "JSON",
    },
    key: {
      kind: "parsed",
      parse: filled,
      brief: "Idempotency key, where the tool declares no identity",
      placeholder: "KEY",
      optional: true,
    },
    runId: {
      kind: "parsed",
      parse: filled,
      brief: "The agent run; names the action inside this run only",
      placeholder: "ID",
      optional: true,
    },
    agent: {
      kind: "parsed",
      parse: filled,
      brief: "Who acts; default: default",
      placeholder: "NAME",
      optional: true,
    },
    wait: {
      kind: "parsed",
      parse: waitTime,
      brief: "How long to wait for it to settle; default: the tool's, else 60s",
      placeholder: "TIME",
      optional: true,
    },
    create: {
      kind: "boolean",
      brief: "Make the journal if it is not there",
      withNegated: false,
    },
  },
  positional: [{ brief: "Name of the tool", parse: filled, placeholder: "TOOL" }],
  async run(run, flags, tool) {
    const params = await readParams(run, flags.params)
    journalPath(run, flags)
    const tools = await loadTools(run, flags.tools)
    return withInvoke(run, flags, { tools, create: flags.create }, async ({ invoke }) => {
      const result = await invoke.call({
        tool,
        params,
        signal: run.world.interrupted,
        ...(flags.key === undefined ? {} : { idempotencyKey: flags.key }),
        ...(flags.runId === undefined ? {} : { runId: flags.runId }),
        ...(flags.agent === undefined ? {} : { agentId: flags.agent }),
        ...(flags.wait === undefined ? {} : { wait: flags.wait satisfies Duration }),
      })
      return answerOf(result, (page) => {
        if (result.settled) return
        page.line()
        page.line("Follow it, or see what a person can do:")
        page.line(`  ${shownCommand(["ops", "watch", result.operation_id], flags)}`)
        page.line(`  ${shownCommand(["ops", "show", result.operation_id], flags)}`)
      })
    })
  },
})
