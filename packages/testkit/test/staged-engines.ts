// Engines of a test in virtual time, on one journal in memory: started, cut off and restored by hand.
import {
  absent,
  createTransport,
  defineTool,
  found,
  Invoke,
  type AnyTool,
  type TransportOptions,
} from "@invokejs/engine"
import { id, type Operation } from "@invokejs/protocol"
import { MemoryStore, openMemoryJournal, Scheduler, SimProcess, type Link } from "@invokejs/testkit/internal"
import type { StandardSchemaV1 } from "@standard-schema/spec"

const HOUR = 3_600_000

type Dispatch = ReturnType<NonNullable<TransportOptions["wrapDispatcher"]>>["dispatch"]

export class Stage {
  readonly scheduler = new Scheduler(Date.UTC(2026, 0, 1))
  readonly store = new MemoryStore({ sealed: false })
  /** What the outside world has, in the order in which it came to be. */
  readonly effects: { readonly id: string; readonly operation_id: string; readonly attempt: number }[] = []
  #born = 0

  /** `link` changes how the process reaches the journal; `execute` is what its tool does. */
  async start(
    tool: AnyTool,
    link: (plain: Link) => Link = (plain) => plain,
  ): Promise<{ readonly process: SimProcess; readonly invoke: Invoke<readonly AnyTool[]> }> {
    this.#born += 1
    const process = new SimProcess(`p${this.#born}`, this.scheduler, { wall_offset_ms: 0 })
    const { clock } = process
    const reach: Link = {
      owner: process,
      clock: () => this.scheduler.now,
      stamp: () => this.scheduler.now,
      after: (ms, fn) => clock.after(ms, fn),
      read: (run) => process.outside(run, 0, 1),
      write: (run) => process.outside(run, 0, 1),
      settle: (_operation_id, run) => process.outside(run, 0, 0),
      gone: (owner) => ((owner as SimProcess).state === "dead" ? "its lock is free" : null),
    }
    let count = 0
    const next = (prefix: string) => `${prefix}-${process.name}-${(count += 1)}`
    const opening = Invoke.on({
      journal: openMemoryJournal(this.store, link(reach)),
      tools: [tool],
      clock,
      random: { unit: () => 0.5 },
      ids: { operation: () => next("op"), event: () => next("ev"), token: () => next("tk"), worker: () => next("wk") },
      telemetry: { log: () => undefined, count: () => undefined },
      machine: { host: process.name, boot_id: "1", pid: this.#born },
      transport: createTransport({ clock, wrapDispatcher: () => ({ dispatch: this.#dispatch }) }),
      poll_ms: 10_000,
    })
    await this.scheduler.run(this.scheduler.now + 100)
    return { process, invoke: await opening }
  }

  pass(hours: number): Promise<void> {
    return this.scheduler.run(this.scheduler.now + hours * HOUR)
  }

  get operations(): readonly Operation[] {
    return [...this.store.rows.operations.values()]
  }

  /** A tool with its own client, whose effects can be looked up by operation id. */
  tool(execute: (on: { readonly operationId: string; readonly attempt: number }) => Promise<unknown>): AnyTool {
    return defineTool({
      name: "charge",
      safety: "write-once-checkable",
      input: ANYTHING,
      identity: (p) => ({ invoice: id(p.invoice) }),
      applied: "returned",
      contract: { lookup: { correlates: "operation", maxExecution: "1s", visibility: "1s" } },
      execute,
      probe: ({ operationId }) => this.#look(operationId),
      expect: () => ({ effect: { done: true } }),
    })
  }

  /** The wire: each request that may leave is an effect, and is answered at once. */
  readonly #dispatch: Dispatch = (options, handler) => {
    let refused = false
    const abort = () => void (refused = true)
    const controller = { aborted: false, paused: false, reason: null, rawHeaders: null, rawTrailers: null, abort }
    handler.onRequestStart?.({ ...controller, pause: () => undefined, resume: () => undefined }, {})
    if (refused) return true
    const sent = JSON.parse(Buffer.from(options.body as Uint8Array).toString()) as { id: string; attempt: number }
    const object = this.make(sent.id, sent.attempt)
    handler.onResponseStart?.(controller as never, 200, { "content-type": "application/json" }, "")
    handler.onResponseData?.(controller as never, Buffer.from(JSON.stringify({ object })))
    handler.onResponseEnd?.(controller as never, {})
    return true
  }

  /** A tool on the engine's transport, whose effects can be looked up by operation id. */
  sender(): AnyTool {
    return defineTool({
      name: "charge",
      safety: "write-once-checkable",
      transport: "invoke",
      input: ANYTHING,
      identity: (p) => ({ invoice: id(p.invoice) }),
      applied: "2xx",
      contract: { lookup: { correlates: "operation", maxExecution: "1s", visibility: "1s" } },
      execute: async ({ fetch, operationId, attempt }) => {
        const body = JSON.stringify({ id: operationId, attempt })
        return (await fetch("http://charges.test/", { method: "POST", body })).json()
      },
      probe: ({ operationId }) => this.#look(operationId),
      expect: () => ({ effect: { done: true } }),
    })
  }

  /** A tool that alone sets what one thing is; `value` says what it is now. */
  setter(execute: (value: string, attempt: number) => Promise<unknown>, value: () => string): AnyTool {
    return defineTool({
      name: "set_tier",
      safety: "write-once-checkable",
      input: ANYTHING,
      identity: (p) => ({ tier: id(p.invoice) }),
      resource: () => "customer:1",
      applied: "returned",
      contract: { exclusive: true, lookup: { correlates: "state", maxExecution: "1s", visibility: "1s" } },
      execute: ({ params, attempt }) => execute(params.invoice, attempt),
      probe: () =>
        found({ id: "customer:1", version: value(), state: { customer: "1", tier: value() } }, { complete: true }),
      expect: (p) => ({ match: { customer: id("1") }, effect: { tier: id(p.invoice) } }),
    })
  }

  #look(operationId: string) {
    const mine = this.effects.filter((one) => one.operation_id === operationId)
    if (mine.length === 0) return absent({ complete: true })
    return found(
      mine.map((one) => ({ id: one.id, operationId, state: { done: true } })),
      { complete: true },
    )
  }

  make(operation_id: string, attempt: number): string {
    const made = `ch_${this.effects.length + 1}`
    this.effects.push({ id: made, operation_id, attempt })
    return made
  }
}

const ANYTHING: StandardSchemaV1<{ readonly invoice: string }> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as { readonly invoice: string } }) },
}
