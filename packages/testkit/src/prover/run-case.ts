/**
 * Runs one case: the call with its fault, the same call again, time until nothing is open, and the same call once more.
 *
 * RC1. What callers were told is kept with the count of effects at that moment, so that a lie is one whatever came after it.
 * RC2. Nothing is concluded here.
 */
import {
  InvokeError,
  isTerminal,
  type AuditEvent,
  type Contract,
  type Json,
  type Operation,
  type Result,
} from "@invokejs/protocol"
import type { CasePlan, Plant } from "./case-plan.ts"
import type { ProxyRecordEntry } from "../fault-proxy/proxy-record.ts"
import type { DoorEntry } from "./provider-door.ts"
import { Stage, type StageParts } from "./stage.ts"
import { lookOnce, runStranger, strangersId, strangersKey } from "./strangers.ts"
import type { Started } from "./wrap-tool.ts"

export interface Telling {
  /** Ms of the case. */
  readonly at: number
  readonly who: "call" | "second caller" | "repeat" | "last repeat" | "reworded call"
  readonly result: Result | null
  /** The call was refused, and nothing ran. */
  readonly error: { readonly code: string; readonly message: string } | null
  /** What the call had made true by then. */
  readonly effects: number
}

export interface Shown {
  /** Ms from the effect to the first look that saw it; null: none did within a day. */
  readonly first_seen_ms: number | null
}

export interface Observation {
  readonly plan: CasePlan
  readonly start_wall: number
  readonly tellings: readonly Telling[]
  /** What the call made true in the end, by the fake's own count. */
  readonly effects: number
  readonly planted: number
  readonly operations: readonly Operation[]
  readonly events: readonly AuditEvent[]
  readonly log: readonly DoorEntry[]
  /** The request that a fault of bytes befell. */
  readonly wire: ProxyRecordEntry | null
  readonly started: readonly Started[]
  /** Asked only where looks were wrong: when the lookup shows the effect. */
  readonly shown: Shown | null
  /** The fault took place. */
  readonly hit: boolean
  /** Time went by for as long as it may, and something was still open. */
  readonly endless: boolean
}

/** Longer than every deadline, and than the time for what was accepted to settle. */
const SETTLE_MS = 80 * 3_600_000
/** A call waits a minute by itself; nothing keeps an answer from it for longer than the drive lasts. */
const CALL_MS = 10 * 60_000
const BEFORE_MS = 60_000
const CROWD = 25
const DENIALS: readonly string[] = ["not_applied", "failed"]
const PEEKS_MS = [0, 60_000, 300_000, 3_600_000, 86_400_000]

export async function runCase(parts: StageParts, contract: Contract): Promise<Observation> {
  const stage = await Stage.open(parts)
  try {
    return await new CaseRun(stage, contract).run()
  } finally {
    await stage.close()
  }
}

class CaseRun {
  readonly #stage: Stage
  readonly #contract: Contract
  readonly #tellings: Telling[] = []
  #base = 0
  #planted = 0
  #endless = false

  constructor(stage: Stage, contract: Contract) {
    this.#stage = stage
    this.#contract = contract
  }

  async run(): Promise<Observation> {
    const { plan, clock } = this.#stage.parts
    if (plan.plant === "equal_before" || plan.plant === "other_before") {
      await this.#plant(plan.plant)
      await this.#stage.pass(BEFORE_MS)
    }
    await this.#stage.faults.arm(this.#stage.proxies)
    await this.#stage.start()
    const first = [this.#tell("call")]
    if (plan.at_once) first.push(this.#tell("second caller"))
    await this.#await(first)
    if (this.#stage.process.dead) {
      await this.#stage.pass(1_000)
      await this.#stage.start()
    }
    if (plan.plant === "equal_after" || plan.plant === "crowd") await this.#plant(plan.plant)
    await this.#await([this.#tell("repeat")])
    await this.#settle()
    await this.#await([this.#tell(plan.reworded === undefined ? "last repeat" : "reworded call")])
    await this.#settle()
    const operations = this.#stage.operations()
    const effects = (await this.#stage.effects()) - this.#base
    const log = [...this.#stage.log]
    const doubtful = effects > 1 || (effects > 0 && operations.some(({ state }) => DENIALS.includes(state)))
    return {
      plan,
      start_wall: clock.wall() - clock.elapsed,
      tellings: this.#tellings,
      effects,
      shown: doubtful ? await this.#peek() : null,
      wire: this.#stage.proxies.call.record().find((entry) => entry.faults.length > 0) ?? null,
      planted: this.#planted,
      operations,
      events: operations.flatMap((one) => this.#stage.store.rows.timelines.get(one.operation_id) ?? []),
      log,
      started: this.#stage.started,
      hit: this.#stage.faults.hit(this.#stage.proxies) && (plan.plant === undefined || this.#planted > 0),
      endless: this.#endless,
    }
  }

  /** What others make is no effect of the call. */
  async #plant(kind: Plant): Promise<void> {
    const { subject, plan, clock } = this.#stage.parts
    const { other, params } = subject.entry
    const many = kind === "crowd" ? (this.#stage.parts.fake.page ?? CROWD) + 5 : 1
    const tool = await subject.toolAt(this.#stage.strangerUrl)
    const before = await this.#stage.effects()
    for (let n = 0; n < many; n += 1) {
      const name = `${plan.id}:${n}`
      const call = {
        params: (kind === "equal_before" || kind === "equal_after" ? params : other?.(n)) ?? params,
        operation_id: strangersId(name),
        provider_key: strangersKey(this.#contract, name),
      }
      await this.#while(runStranger({ tool, clock, contract: this.#contract }, call))
    }
    const made = (await this.#stage.effects()) - before
    this.#planted += made
    if (this.#tellings.length > 0) this.#base += made
  }

  async #tell(who: Telling["who"]): Promise<void> {
    const { subject, plan, clock, name } = this.#stage.parts
    const { invoke } = this.#stage.process
    const tool = await this.#stage.aside(() => subject.toolAt(this.#stage.strangerUrl))
    const definition = tool["~definition"] as { readonly identity?: unknown }
    if (this.#tellings.length === 0 && who === "call") this.#base = await this.#stage.effects()
    const params = who === "reworded call" ? reworded(subject.entry.params, plan.reworded) : subject.entry.params
    const key = definition.identity === undefined ? { idempotencyKey: `prove:${name}` } : {}
    let result: Result | null = null
    let error: Telling["error"] = null
    try {
      result = await invoke.call({ tool: subject.name, params, ...key })
    } catch (thrown) {
      error = InvokeError.is(thrown)
        ? { code: thrown.code, message: thrown.message }
        : { code: "broken", message: String(thrown) }
    }
    const at = clock.elapsed
    this.#tellings.push({ at, who, result, error, effects: (await this.#stage.effects()) - this.#base })
  }

  /** Looks again and again, as the author's probe does, without anything being concluded. */
  async #peek(): Promise<Shown | null> {
    const { subject, clock } = this.#stage.parts
    const made = this.#stage.log.find((entry) => entry.side === "call" && entry.made > 0)?.handed_at
    const [operation] = this.#stage.operations()
    if (made === undefined || made === null || operation === undefined) return null
    const tool = await subject.toolAt(this.#stage.strangerUrl)
    for (const later of PEEKS_MS) {
      await this.#stage.pass(later)
      const from = clock.elapsed
      let seen = false
      await this.#while(lookOnce({ tool, clock }, subject.entry.params, operation).then((yes) => (seen = yes)))
      if (seen) return { first_seen_ms: from - made }
    }
    return { first_seen_ms: null }
  }

  /** A caller whose process died is told nothing. */
  async #await(tellings: readonly Promise<void>[]): Promise<void> {
    const process = this.#stage.process
    await this.#while(Promise.all(tellings), () => process.dead)
  }

  async #while(work: Promise<unknown>, or: () => boolean = () => false): Promise<void> {
    let over = false
    const end = (): void => void (over = true)
    work.then(end, end)
    await this.#stage.drive(() => over || or(), CALL_MS)
  }

  async #settle(): Promise<void> {
    const rest = (one: Operation): boolean =>
      isTerminal(one.state) || one.state === "needs_review" || one.state === "held"
    const settled = () => this.#stage.held === 0 && this.#stage.operations().every(rest)
    this.#endless = !(await this.#stage.drive(settled, SETTLE_MS))
  }
}

/** The same action in other words. */
function reworded(params: Json, field: string | undefined): Json {
  if (field === undefined || typeof params !== "object" || params === null || Array.isArray(params)) return params
  const given = params as { readonly [name: string]: Json }
  const words = given[field]
  return { ...given, [field]: `As asked: ${typeof words === "string" ? words : ""}, please` }
}
