/** `invoke purge`: payloads of operations settled long enough ago become tombstones. Keys, times and chains stay. */
import type { Journal, PurgeResult } from "@invokejs/engine"
import { isTerminal, STATE_NAMES } from "@invokejs/protocol"
import { allOperations } from "./all-operations.ts"
import { counted } from "./counted.ts"
import { defineCommand, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { duration } from "./flags.ts"
import { sayTime, isoTime } from "./say-time.ts"
import { withInvoke, withJournal } from "./session.ts"

interface PurgeFlags extends JournalFlag {
  readonly olderThan: number
  readonly dryRun: boolean
}

/** Purged in one go, so that a long run can be interrupted between two. */
const STEP = 1_000

export const purgeCommand = defineCommand<PurgeFlags>({
  brief: "Remove payloads of operations settled long ago",
  details:
    "Parameters, outputs, evidence and event data go for good. What stays recognises the keys, so that none becomes new work. " +
    "Kept: what is not settled, contradicted, or has an open incident.",
  flags: {
    ...JOURNAL_FLAG,
    olderThan: { kind: "parsed", parse: duration, brief: "Settled longer ago than this", placeholder: "TIME" },
    dryRun: { kind: "boolean", brief: "Count, and change nothing", withNegated: false },
  },
  async run(run, flags) {
    const { purged, refused, before } = flags.dryRun
      ? await withJournal(run, flags, (journal) => count(journal, journal.now() - flags.olderThan))
      : await withInvoke(run, flags, {}, async ({ journal, invoke }) => {
          const operator = invoke.operator({ name: run.world.user })
          const until = journal.now() - flags.olderThan
          let [done, last]: [number, PurgeResult] = [0, { purged: STEP, refused: 0 }]
          while (last.purged === STEP && !run.world.interrupted.aborted) {
            last = await operator.purge({ before: until, limit: STEP })
            done += last.purged
          }
          return { purged: done, refused: last.refused, before: until }
        })
    return {
      exit: 0,
      json: { dry_run: flags.dryRun, before: isoTime(before), purged, kept: refused },
      text: (page) => {
        const verb = flags.dryRun ? "would be purged" : "purged"
        page.line(`${counted(purged, "operation")} settled before ${sayTime(before)} ${verb}.`)
        if (refused > 0) page.line(`${refused} kept: contradicted, or with an open incident.`)
      },
    }
  },
})

async function count(journal: Journal, before: number) {
  const spoken = new Set((await journal.incidents({ open: true })).map(({ operation_id }) => operation_id))
  let [purged, refused] = [0, 0]
  for await (const operation of allOperations(journal, { states: STATE_NAMES.filter(isTerminal) })) {
    const { settled_at, output_purged, contradicted, operation_id } = operation
    if (settled_at === null || settled_at >= before || output_purged) continue
    if (contradicted || spoken.has(operation_id)) refused += 1
    else purged += 1
  }
  return { purged, refused, before }
}
