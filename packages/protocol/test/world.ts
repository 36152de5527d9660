// A small truthful world around one operation: a provider that executes, delays and forgets, workers that die, freeze and thaw.
// It counts effects itself. Its only promises are those of the contract: execution within Q, visibility within V, a key within
// its retention. Everything else is chosen by the seed.

import { DEFAULTS, nextStep } from "@invokejs/protocol"
import type { AttemptOutcome, Candidate, Contract, Operation } from "@invokejs/protocol"
import { charge, HOUR, lookOf, MINUTE, SECOND, Story } from "./builders.ts"

interface Effect {
  readonly at: number
  readonly key: string
  readonly rejected: boolean
}

interface Happening {
  readonly at: number
  readonly run: () => void
}

const UNKNOWN: AttemptOutcome = { class: "unknown", reason: { code: "no_answer", text: "no answer" } }
const UNSENT: AttemptOutcome = {
  class: "not_applied",
  reason: { code: "never_left", text: "no byte left" },
  proof: "stage",
  speaks_for: "attempt",
}
const REFUSED: AttemptOutcome = {
  class: "not_applied",
  reason: { code: "http_402", text: "declined" },
  proof: "answer",
  speaks_for: "attempt",
}

/** What the seed says next. */
export class Chance {
  readonly #numbers: readonly number[]
  #at = 0

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers.length === 0 ? [0] : numbers
  }

  /** 0 up to, not including, `below`. */
  below(below: number): number {
    const drawn = this.#numbers[this.#at % this.#numbers.length] ?? 0
    this.#at += 1
    // The position is mixed in, so that a short seed does not say the same for ever.
    return (drawn + this.#at * 7_919) % Math.max(1, Math.floor(below))
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}

export interface WorldOptions {
  readonly contract: Contract
  readonly transport: "invoke" | "opaque"
  readonly restores: boolean
}

export class World {
  readonly story: Story
  /** What the provider did, dedupe applied: more than one that is not a rejection is a double effect. */
  readonly effects: Effect[] = []
  readonly incidents: string[] = []
  readonly #options: WorldOptions
  readonly #chance: Chance
  readonly #answers = new Map<string, { readonly at: number; readonly rejected: boolean }>()
  #happenings: Happening[] = []
  #history: Operation[] = []
  #restores = 0
  #unanswered = 0

  constructor(options: WorldOptions, chance: Chance) {
    this.#options = options
    this.#chance = chance
    this.story = new Story({ contract: options.contract })
  }

  get applied(): number {
    return this.effects.filter((one) => !one.rejected).length
  }

  /** Runs until nothing can happen any more, or for so many steps. */
  run(steps = 400): void {
    for (let step = 0; step < steps && this.#step(); step += 1) {
      this.#history.push(this.story.operation)
      if (this.#options.restores && this.#restores < 2 && this.#chance.below(25) === 0) this.#restore()
    }
    for (const happening of this.#happenings.toSorted((a, b) => a.at - b.at)) this.#happen(happening)
  }

  #step(): boolean {
    const { story } = this
    // Nothing but a person can move it now.
    if (story.state === "needs_review" && this.#happenings.length === 0 && !story.operation.checkable) return false
    const chosen = nextStep(story.operation, { now: story.now, quarantine: false, can_fence: false })
    const due = chosen.do === "wait" ? chosen.until : chosen.do === "nothing" ? null : story.now
    const next = this.#happenings.toSorted((a, b) => a.at - b.at)[0]
    if (next && (due === null || next.at <= due)) {
      this.#happenings = this.#happenings.filter((one) => one !== next)
      this.#happen(next)
      return true
    }
    if (due === null) return false
    story.until(due)
    // A worker is seldom there at the very moment.
    if (chosen.do === "wait") story.wait(this.#chance.one([0, 1, SECOND, 20 * SECOND]))
    else this.#act(chosen.do)
    return true
  }

  #happen({ at, run }: Happening): void {
    this.story.until(at)
    run()
  }

  #later(at: number, run: () => void): void {
    this.#happenings.push({ at, run })
  }

  #act(chosen: string): void {
    const { story } = this
    if (chosen === "dispatch") this.#dispatch()
    else if (chosen === "timer") this.#tell(() => ({ type: "due" }))
    else if (chosen === "look_before")
      this.#tell(() => ({ type: "looked_before", seen: [], version: null, full_match: null }))
    else if (chosen === "probe") this.#probe()
    else throw new Error(`the world cannot ${chosen} in ${story.state}`)
  }

  #tell(make: () => Parameters<Story["try"]>[0]): void {
    if (this.story.offer(make()).ok) this.incidents.push(...this.story.incidents)
  }

  #probe(): void {
    const { story } = this
    const begun = story.now
    this.#tell(() => ({ type: "probe_started", worker_id: "prober", until: begun + 40 * SECOND }))
    const seen = this.#visible(begun)
    const generations = story.generations()
    // The provider is reachable: it does not stay silent for ever.
    const answered = this.#unanswered >= 4 || this.#chance.below(6) !== 0
    this.#unanswered = answered ? 0 : this.#unanswered + 1
    this.#later(begun + this.#chance.below(20 * SECOND), () => {
      if (answered) this.#tell(() => story.evidence(lookOf(seen, { generations }), { observed_from: begun }))
      else this.#tell(() => ({ type: "probe_unanswered", reason: { code: "down", text: "503" } }))
    })
  }

  /** What a look begun at this moment shows: surely what is older than V, perhaps what is younger. */
  #visible(at: number): readonly Candidate[] {
    const visibility = this.#options.contract.lookup?.visibility_ms ?? 0
    return this.effects.flatMap((effect, number) => {
      if (effect.rejected || effect.at > at) return []
      if (at - effect.at < visibility && this.#chance.below(2) === 0) return []
      return [this.#object(effect, number)]
    })
  }

  #object(effect: Effect, number: number): Candidate {
    const object = charge({ object_id: `ch_${number + 1}`, provider_key: effect.key })
    if (this.#options.contract.lookup?.correlates !== "created") return object
    const { operation_id: _id, provider_key: _key, ...stranger } = object
    // The provider's clock is off by no more than the contract's skew, and it gives whole seconds.
    const skewed = effect.at + this.#chance.one([-2, -1, 0, 1, 2]) * SECOND
    return { ...stranger, created_at: Math.floor(skewed / SECOND) * SECOND }
  }

  #dispatch(): void {
    const { story } = this
    const worker_id = `worker-${this.#chance.below(3)}`
    const event = story.dispatchEvent({ worker_id, transport: this.#options.transport })
    story.do(event)
    const record = story.operation.attempts.at(-1)
    if (!record) throw new Error("no record")
    const fate = this.#chance.one(["lives", "lives", "lives", "dies", "freezes"] as const)
    if (fate === "lives") this.#lives(record)
    else if (fate === "dies") this.#dies(record)
    else this.#freezes(record)
  }

  #outcome(record: Operation["attempts"][number], at: number, outcome: AttemptOutcome): void {
    this.#later(at, () =>
      this.#tell(() => this.story.outcome(record.attempt, outcome, { dispatched_at: record.dispatched_at })),
    )
  }

  /** The request leaves at `sent` and reaches the provider within Q; the answer, if it comes, is told at `told` or later. */
  #sends(record: Operation["attempts"][number], sent: number, told: number | null): void {
    const { lookup } = this.#options.contract
    const execution = lookup?.max_execution_ms ?? DEFAULTS.max_execution_ms
    const landing = sent + this.#chance.one([0, SECOND, this.#chance.below(execution), execution])
    const lost = this.#chance.below(8) === 0
    const refuses = this.#chance.below(4) === 0
    let rejected = false
    this.#later(landing, () => {
      if (!lost) rejected = this.#execute(record.provider_key, landing, refuses)
    })
    const answers = told !== null && !lost && this.#chance.below(3) !== 0
    if (!answers) return
    const at = Math.max(told, landing + 1)
    this.#later(at, () => {
      const outcome: AttemptOutcome = rejected ? REFUSED : { class: "applied", output: null }
      this.#tell(() =>
        this.story.outcome(record.attempt, outcome, { dispatched_at: record.dispatched_at, http_status: 402 }),
      )
    })
  }

  /** Whether the request was answered with a refusal. */
  #execute(key: string, at: number, refuses: boolean): boolean {
    const { key: contract } = this.#options.contract
    const known = this.#answers.get(key)
    const remembers =
      contract?.proved !== undefined && known !== undefined && at - known.at < (contract.retention_ms ?? 0)
    // A stored success is replayed; a stored refusal only where the provider replays errors.
    if (remembers && known && (!known.rejected || contract?.replays_errors)) return known.rejected
    this.effects.push({ at, key, rejected: refuses })
    this.#answers.set(key, { at, rejected: refuses })
    return refuses
  }

  #lives(record: Operation["attempts"][number]): void {
    const start = record.dispatched_at
    const over = start + record.timeout_ms
    const sent = start + this.#chance.one([0, SECOND, 10 * SECOND, 24 * SECOND])
    const leaves = this.#chance.below(6) !== 0
    if (leaves) this.#sends(record, sent, start + this.#chance.one([SECOND, 5 * SECOND, 29 * SECOND, 2 * MINUTE]))
    this.#later(over, () => {
      if (this.story.operation.attempts.some((one) => one.dispatched_at === start && one.settled_at !== null)) return
      this.#tell(() => ({ type: "lapsed", why: "timeout" }))
      // On our transport the attempt is closed then; an opaque promise goes on for as long as it likes.
      const ends =
        this.#options.transport === "invoke" ? over + 1 : over + this.#chance.one([SECOND, 5 * MINUTE, 2 * HOUR])
      this.#outcome(record, ends, !leaves && this.#options.transport === "invoke" ? UNSENT : UNKNOWN)
    })
  }

  #dies(record: Operation["attempts"][number]): void {
    const start = record.dispatched_at
    const death = start + this.#chance.below(20 * SECOND)
    const sent = start + this.#chance.one([0, SECOND, 10 * SECOND])
    if (sent <= death) this.#sends(record, sent, null)
    this.#later(start + DEFAULTS.lease_ms, () => this.#lapse(record))
    const noticed = this.#chance.one([death + SECOND, death + MINUTE, death + 3 * HOUR])
    this.#later(noticed, () => {
      // Proof is about a process: only where no other attempt ran in it is it used here.
      const theirs = this.story.operation.attempts.filter((one) => one.worker_id === record.worker_id)
      if (theirs.length === 1)
        this.#tell(() => ({ type: "worker_gone", worker_id: record.worker_id, proof: "its lock was free" }))
    })
  }

  /** It thaws: on our transport what is late is refused at the wire; an opaque tool sends whenever it wakes. */
  #freezes(record: Operation["attempts"][number]): void {
    // Nothing stops an opaque tool that sleeps for longer than its provider remembers keys: that stands among the limits.
    const longest = this.#options.transport === "opaque" ? HOUR : 2 * HOUR
    const thaw = record.dispatched_at + this.#chance.one([10 * SECOND, 24 * SECOND, 5 * MINUTE, longest])
    this.#later(record.dispatched_at + DEFAULTS.lease_ms, () => this.#lapse(record))
    if (this.#options.transport === "opaque") {
      this.#sends(record, thaw, thaw + SECOND)
      this.#outcome(record, thaw + 10 * MINUTE, UNKNOWN)
      return
    }
    if (thaw > record.send_before) {
      this.#outcome(record, thaw, UNSENT)
      return
    }
    // A head at the last moment, and a body that goes on leaving until the last possible send.
    this.#sends(record, this.#chance.one([thaw, record.send_before, record.last_possible_send]), thaw + SECOND)
    this.#outcome(record, record.last_possible_send + MINUTE, UNKNOWN)
  }

  #lapse(record: Operation["attempts"][number]): void {
    const running = this.story.operation.attempts.at(-1)
    if (running?.dispatched_at === record.dispatched_at) this.#tell(() => ({ type: "lapsed", why: "lease" }))
  }

  /** Yesterday's journal: the row is what it was, the world is not. */
  #restore(): void {
    const older = this.#history[this.#chance.below(this.#history.length)]
    if (!older) return
    this.#restores += 1
    this.story.operation = older
    this.#history = []
    this.#tell(() => ({ type: "restored", until: this.story.now }))
  }
}
