/** `invoke workers ls | gone`: the processes that carry operations on. */
import type { Journal } from "@invokejs/engine"
import { InvokeError } from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { ACTOR_FLAG, actorOf, type ActorFlag } from "./flags.ts"
import { readWorkers, type WorkerFact } from "./live-workers.ts"
import type { Page } from "./page.ts"
import { withInvoke, withJournal } from "./session.ts"

interface ListFlags extends JournalFlag {
  readonly all: boolean
}

export const workersLsCommand = defineCommand<ListFlags>({
  brief: "List the workers of the journal, and what is proved about them",
  details:
    "live: neither closed nor proved gone; silence proves nothing. A process registers as a worker when it first starts an attempt.",
  flags: {
    ...JOURNAL_FLAG,
    all: { kind: "boolean", brief: "Closed ones too", withNegated: false },
  },
  run: (run, flags) =>
    withJournal(run, flags, async (journal) => {
      const workers = (await readWorkers(journal)).filter(({ state }) => flags.all || state !== "closed")
      return { exit: 0, json: { workers: workers.map(shown) }, text: (page) => showWorkers(page, workers) }
    }),
})

function shown({ own: _own, ...worker }: WorkerFact): Omit<WorkerFact, "own"> {
  return worker
}

function showWorkers(page: Page, workers: readonly WorkerFact[]): void {
  if (workers.length === 0) return page.line("No workers.")
  for (const worker of workers) {
    page.heading(worker.worker_id)
    page.fact("state", worker.state, 2)
    page.fact("proof", worker.proof, 2)
    page.fact("process", `${worker.pid} on ${worker.host}`, 2)
    page.fact("started", worker.started_at, 2)
    page.fact("lease_until", worker.lease_until, 2)
    page.fact("tools", worker.tools.join(" "), 2)
  }
}

interface GoneFlags extends JournalFlag, ActorFlag {
  readonly reason: string
}

export const workersGoneCommand = defineCommand<GoneFlags, [id: string]>({
  brief: "Give your word that a worker's process is gone",
  details:
    "Ends its open attempts: what they left behind is unknown and is reconciled. Look first that the process, its container or " +
    "its machine is really gone: an attempt that still runs could then meet a second one.",
  flags: {
    ...JOURNAL_FLAG,
    ...ACTOR_FLAG,
    reason: { kind: "parsed", parse: filled, brief: "How you know", placeholder: "TEXT" },
  },
  positional: [{ brief: "Id of the worker", parse: filled, placeholder: "WORKER" }],
  run: (run, flags, id) =>
    withInvoke(run, flags, {}, async ({ journal, invoke }) => {
      const before = await readWorker(journal, id)
      if (before.state === "closed") {
        throw new InvokeError("illegal_transition", {
          happened: `worker ${id} is closed: it ended in order, with no open attempt`,
          fix: "There is nothing to do.",
          detail: { worker_id: id },
        })
      }
      await invoke.operator({ name: actorOf(run.world, flags) }).workersGone(id, { reason: flags.reason })
      const worker = await readWorker(journal, id)
      return { exit: 0, json: shown(worker), text: (page) => showWorkers(page, [worker]) }
    }),
})

async function readWorker(journal: Journal, id: string): Promise<WorkerFact> {
  const worker = (await readWorkers(journal)).find(({ worker_id }) => worker_id === id)
  if (worker) return worker
  throw new InvokeError("invalid_request", {
    happened: `there is no worker ${id} in this journal`,
    fix: "Read `invoke workers ls --all`.",
    detail: { field: "worker_id" },
  })
}
