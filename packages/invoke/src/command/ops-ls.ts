/** `invoke ops ls`: operations, newest first. */
import type { Journal, OperationFilter } from "@invokejs/engine"
import { isTerminal, operationView, STATE_NAMES, type Operation, type State } from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { duration, pageLimit, pair } from "./flags.ts"
import { readWorkers, waitingForTool } from "./live-workers.ts"
import type { Page } from "./page.ts"
import { sayAge } from "./say-time.ts"
import { withJournal } from "./session.ts"
import { usage } from "./usage.ts"

interface ListFlags extends JournalFlag {
  readonly state?: readonly State[]
  readonly open: boolean
  readonly contradicted: boolean
  readonly tool?: string
  readonly agent?: string
  readonly key?: string
  readonly olderThan?: number
  readonly where?: readonly [string, string]
  readonly limit?: number
  readonly cursor?: string
}

const PAGE = 50

export const opsLsCommand = defineCommand<ListFlags>({
  brief: "List operations, newest first",
  details: "All given conditions must hold. A page that is full prints the cursor of the next one.",
  flags: {
    ...JOURNAL_FLAG,
    state: {
      kind: "enum",
      values: STATE_NAMES,
      brief: "Only these states, separated by commas",
      placeholder: "STATES",
      variadic: ",",
      optional: true,
    },
    open: { kind: "boolean", brief: "Only what is not settled", withNegated: false },
    contradicted: {
      kind: "boolean",
      brief: "Only settled ones that later evidence contradicts",
      withNegated: false,
    },
    tool: { kind: "parsed", parse: filled, brief: "Only this tool", placeholder: "TOOL", optional: true },
    agent: { kind: "parsed", parse: filled, brief: "Only this agent", placeholder: "NAME", optional: true },
    key: { kind: "parsed", parse: filled, brief: "Only the chain of this key", placeholder: "KEY", optional: true },
    olderThan: {
      kind: "parsed",
      parse: duration,
      brief: "Only what was admitted longer ago",
      placeholder: "TIME",
      optional: true,
    },
    where: {
      kind: "parsed",
      parse: pair(":"),
      brief: "Only where this identity or intent field has this value",
      placeholder: "FIELD:VALUE",
      optional: true,
    },
    limit: {
      kind: "parsed",
      parse: pageLimit,
      brief: `Operations on a page; default ${PAGE}, at most 500`,
      placeholder: "N",
      optional: true,
    },
    cursor: {
      kind: "parsed",
      parse: filled,
      brief: "Go on after the page that printed this",
      placeholder: "CURSOR",
      optional: true,
    },
  },
  async run(run, flags) {
    if (flags.open && flags.state !== undefined)
      throw usage("--open and --state are two ways to say it; give one", "open")
    return withJournal(run, flags, async (journal) => {
      const now = journal.now()
      const page = await journal.operations(filterOf(flags, now), {
        limit: flags.limit ?? PAGE,
        ...(flags.cursor === undefined ? {} : { cursor: flags.cursor }),
      })
      const workers = await readWorkers(journal)
      const rows = page.items.map((operation) => ({ operation, waiting: waitingForTool(workers, operation) }))
      const contradicted = flags.open && flags.cursor === undefined && (await anyContradicted(journal))
      return {
        exit: 0,
        json: {
          operations: rows.map(({ operation, waiting }) => ({
            ...operationView(operation, now),
            waiting_for_tool: waiting,
          })),
          next_cursor: page.next_cursor,
        },
        text: (out) => {
          showRows(out, rows, now)
          if (contradicted) out.line("Settled ones that evidence contradicts: invoke ops ls --contradicted")
          if (page.next_cursor !== null) out.line(`More: --cursor ${page.next_cursor}`)
        },
      }
    })
  },
})

function filterOf(flags: ListFlags, now: number): OperationFilter {
  const states = flags.open ? STATE_NAMES.filter((state) => !isTerminal(state)) : flags.state
  const [field, value] = flags.where ?? ["", ""]
  return {
    ...(states === undefined ? {} : { states }),
    ...(flags.contradicted ? { contradicted: true } : {}),
    ...(flags.tool === undefined ? {} : { tool: flags.tool }),
    ...(flags.agent === undefined ? {} : { agent_id: flags.agent }),
    ...(flags.key === undefined ? {} : { key: flags.key }),
    ...(flags.olderThan === undefined ? {} : { created_before: now - flags.olderThan }),
    ...(flags.where === undefined ? {} : { where: { field, value } }),
  }
}

async function anyContradicted(journal: Journal): Promise<boolean> {
  return (await journal.operations({ contradicted: true }, { limit: 1 })).items.length > 0
}

interface Row {
  readonly operation: Operation
  readonly waiting: boolean
}

function showRows(out: Page, rows: readonly Row[], now: number): void {
  if (rows.length === 0) return out.line("No operations.")
  out.table(
    ["OPERATION", "STATE", "AGE", "TOOL"],
    rows.map(({ operation, waiting }) => [
      operation.operation_id,
      `${operation.state}${operation.contradicted ? "!" : ""}`,
      `${sayAge(now - operation.created_at)}${waiting ? "*" : ""}`,
      operation.tool,
    ]),
  )
  if (rows.some(({ waiting }) => waiting)) out.line("* waiting_for_tool: no live worker of this journal has the tool")
  if (rows.some(({ operation }) => operation.contradicted)) out.line("! contradicted: later evidence says otherwise")
}
