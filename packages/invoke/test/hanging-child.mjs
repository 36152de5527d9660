// A process that dispatches one operation and hangs in its tool, until it is killed.
import { argv, stdout } from "node:process"
import { absent, defineTool, Invoke, systemClock, systemIds, systemRandom, thisMachine } from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { id } from "@invokejs/protocol"
import { z } from "zod"

const journal = await openSqliteJournal({
  path: argv[2],
  mode: "inline",
  clock: systemClock,
  ids: systemIds,
  allowEphemeral: true,
})
const pay = defineTool({
  name: "pay",
  safety: "write-once-checkable",
  input: z.object({ invoice: z.string(), amount: z.int() }),
  identity: (p) => ({ invoice: id(p.invoice) }),
  applied: "returned",
  contract: { lookup: { correlates: "operation", maxExecution: "60s", visibility: "10s", spacing: "10s" } },
  execute: () => new Promise((resolve) => setInterval(resolve, 2 ** 30)),
  probe: () => absent({ complete: true }),
  expect: (p) => ({ match: { invoice: id(p.invoice) }, effect: { paid: true }, invariant: { amount: p.amount } }),
})
const invoke = await Invoke.on({
  journal,
  tools: [pay],
  clock: systemClock,
  ids: systemIds,
  random: systemRandom,
  telemetry: { log: () => undefined, count: () => undefined },
  machine: thisMachine(),
  reconcile: false,
})
const { operation_id } = await invoke.call({ tool: "pay", params: { invoice: "84721", amount: 50_000 }, wait: 0 })
stdout.write(`${operation_id}\n`)
