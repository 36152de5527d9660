// @ts-check
// Makes every error that the embedded engine can throw happen once, so that the docs quote what a person really reads.
//
// A code that nothing here can cause has a sentence that says why, and a test holds that every code is in one of the two lists.

import { defineTool, found, outcome } from "@invokejs/engine"
import { id, InvokeError } from "@invokejs/protocol"
import { Invoke } from "@invokejs/invoke"
import { copyFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { during, numberedIds, onBench } from "./bench.mjs"

/** @import { AnyTool } from "@invokejs/engine" */
/** @import { ErrorCode } from "@invokejs/protocol" */
/** @import { Bench } from "./bench.mjs" */
/** @typedef {{ message: string, detail: string }} CausedError */

const input = z.object({ invoice_id: z.string(), amount: z.int().positive() })
const BILL = { invoice_id: "84721", amount: 50_000 }

/** @param {Record<string, unknown>} change @returns {AnyTool} */
function tool(change = {}) {
  const options = {
    name: "pay_invoice",
    safety: "irreversible",
    input,
    identity: (/** @type {{ invoice_id: string }} */ p) => ({ invoice_id: id(p.invoice_id) }),
    applied: "returned",
    execute: () => ({ paid: true }),
    ...change,
  }
  // The mistakes are the point: the types would refuse them first.
  return defineTool(/** @type {any} */ (options))
}

const refusing = () => {
  throw outcome.rejected({ code: "card_declined", message: "the card was declined" })
}
const losing = () => {
  throw new Error("socket hang up")
}
const probe = async () => found([], { complete: true })
const expect = () => ({ match: { invoice_id: id("84721") }, effect: { paid: true } })
const checkable = { safety: "write-once-checkable", probe, expect }

/** @param {Bench} bench @param {Record<string, unknown>} change */
async function settled(bench, change) {
  const invoke = await bench.open([tool(change)])
  const call = invoke.call({ tool: "pay_invoice", params: BILL })
  return { invoke, result: await during(bench.clock, call) }
}

/** @type {{ readonly [code in ErrorCode]?: (bench: Bench) => Promise<unknown> }} */
export const TRIGGERS = {
  invalid_request: async ({ open }) =>
    (await open([tool()])).call({ tool: "pay_invoice", params: BILL, wait: /** @type {any} */ ("soon") }),
  unsupported_option: async ({ open }) =>
    (await open([tool()])).call(/** @type {any} */ ({ tool: "pay_invoice", params: BILL, retries: 3 })),
  identity_required: async ({ open }) =>
    (await open([tool({ identity: undefined })])).call({ tool: "pay_invoice", params: BILL }),
  definition_invalid: async () => tool({ safety: "write-once-checkable" }),
  applied_missing: async () => tool({ applied: undefined }),
  expect_missing: async () => tool({ safety: "write-once-checkable", probe }),
  probe_without_cause: async () => tool(checkable),
  resource_missing: async () => tool({ ...checkable, contract: { lookup: { correlates: "state" } } }),
  duplicate_tool: ({ open }) => open([tool(), tool()]),
  identity_changed: async (bench) => {
    await settled(bench, {})
    const identity = (/** @type {{ invoice_id: string }} */ p) => ({ invoice: id(p.invoice_id) })
    return bench.open([tool({ identity })])
  },
  unknown_tool: async ({ open }) => (await open([tool()])).call({ tool: "pay_invoise", params: BILL }),
  operation_not_found: async ({ open }) => (await open()).wait("019b7777-0000-70a1-8000-00000000abcd"),
  invalid_params: async ({ open }) =>
    (await open([tool()])).call({ tool: "pay_invoice", params: { ...BILL, amount: "500" } }),
  idempotency_key_reused: async (bench) => {
    const { invoke } = await settled(bench, {})
    return invoke.call({ tool: "pay_invoice", params: { ...BILL, amount: 60_000 } })
  },
  payload_too_large: async ({ open }) =>
    (await open([tool()])).call({ tool: "pay_invoice", params: { ...BILL, invoice_id: "8".repeat(70_000) } }),
  supersedes_refused: async (bench) => {
    const { invoke, result } = await settled(bench, {})
    const { version } = /** @type {{ version: number }} */ (await invoke.operation(result.operation_id))
    return invoke.operator({ name: "ada" }).supersede(result.operation_id, { params: BILL, expectedVersion: version })
  },
  retry_refused: async (bench) => {
    const { invoke, result } = await settled(bench, {})
    return invoke.operator({ name: "ada" }).retry(result.operation_id, { afterAttempt: 1 })
  },
  version_conflict: async (bench) => {
    const { invoke, result } = await settled(bench, { execute: losing })
    const resolution = { to: /** @type {const} */ ("succeeded"), reason: "seen", evidence: { ticket: "SUP-1182" } }
    return invoke.operator({ name: "ada" }).resolve(result.operation_id, { ...resolution, expectedVersion: 1 })
  },
  illegal_transition: async (bench) => {
    const { invoke, result } = await settled(bench, {})
    return invoke.operator({ name: "ada" }).cancel(result.operation_id)
  },
  draining: async ({ open }) => {
    const invoke = await open([tool()])
    await invoke.close()
    return invoke.call({ tool: "pay_invoice", params: BILL })
  },
  journal_unavailable: ({ folder }) => Invoke.open({ journal: join(folder, "missing/invoke.db"), log: "silent" }),
  unsettled: ({ open, clock }) => guarded({ open, clock }, losing),
  not_in_place: ({ open, clock }) => guarded({ open, clock }, refusing),
}

/** @param {Pick<Bench, "open" | "clock">} bench @param {() => never} run */
async function guarded({ open, clock }, run) {
  const invoke = await open()
  const pay = invoke.guard(run, {
    name: "pay_invoice",
    identity: (/** @type {{ invoice_id: string }} */ p) => ({ invoice_id: id(p.invoice_id) }),
    applied: "returned",
  })
  return during(clock, pay(BILL))
}

const SERVER = "It comes with the HTTP server, which is not built."

/** Why nothing here can cause it. @type {{ readonly [code in ErrorCode]?: string }} */
export const UNCAUSED = {
  config_invalid: "The `invoke` command throws it about a module of tools that cannot be used.",
  journal_unusable: "The `invoke` command throws it about a journal of a newer release, or on a network file system.",
  unauthenticated: SERVER,
  forbidden: SERVER,
  rate_limited: "It comes with limits, which are not built.",
  overloaded: "It takes more concurrent calls than the journal's queue holds.",
  quarantined: "In quarantine calls are admitted and wait; the code is kept for the HTTP server, which is not built.",
  internal: "It takes a fault in Invoke itself.",
}

/** What a journal says whose file was changed for another one while it was open. @returns {Promise<string>} */
export function replacedJournal() {
  return onBench(async ({ open, folder }) => {
    const invoke = await open()
    const journal = join(folder, "invoke.db")
    copyFileSync(journal, `${journal}.copy`)
    renameSync(`${journal}.copy`, journal)
    const write = invoke.checkpoint("run-1").write({}, { expectedVersion: 0 })
    const thrown = await write.catch((/** @type {unknown} */ error) => error)
    return String(thrown).replaceAll(folder, ".")
  })
}

/** The error that a code's trigger throws. @param {ErrorCode} code @returns {Promise<CausedError>} */
export function causeError(code) {
  return onBench(async (bench) => {
    const thrown = await Promise.resolve(TRIGGERS[code]?.(bench)).catch((/** @type {unknown} */ error) => error)
    if (!InvokeError.is(thrown, code)) throw new Error(`the trigger of ${code} gave ${String(thrown)}`)
    // The folder of this run, and how many ids it used, are nobody's business.
    const shown = (/** @type {string} */ text) => numberedIds(text.replaceAll(bench.folder, "."))
    return { message: shown(thrown.message), detail: shown(JSON.stringify(thrown.detail)) }
  })
}
