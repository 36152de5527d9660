/**
 * Everything that may happen next in a state of the model, each as one move.
 *
 * MM1. Between a worker's read and its write, between its dispatch record and its send, between an answer and its record,
 *      between the start of a look and its evidence: everything else may happen first.
 * MM2. The operation changes only by the real `transition()`, what is due is said by the real `nextStep()`.
 */
import {
  DEFAULTS,
  isTerminal,
  nextStep,
  transition,
  type AttemptOutcome,
  type Operation,
  type OperationEvent,
} from "@invokejs/protocol"
import { TICK_MS, type ModelConfiguration, type SeededBug } from "./model-configuration.ts"
import type { OpenAttempt, LoopWork, ModelState, ModelWorker, Move } from "./model-state.ts"

export interface ModelRules {
  readonly config: ModelConfiguration
  readonly bug: SeededBug | null
}

export function movesOf(state: ModelState, rules: ModelRules): readonly Move[] {
  const moves: Move[] = []
  for (const worker of state.workers) {
    if (!worker.alive) {
      push(moves, `${worker.id} is known to be gone`, gone(state, worker))
      continue
    }
    if (rules.bug === "silence_is_proof" && worker.attempt) push(moves, `${worker.id} is silent`, gone(state, worker))
    loopMoves(state, worker, rules, moves)
    if (worker.attempt) attemptMoves(state, worker, worker.attempt, rules, moves)
    if (state.crashes_left > 0 && (worker.attempt || worker.loop))
      push(moves, `${worker.id} crashes`, crash(state, worker))
  }
  for (const [index, request] of state.in_flight.entries()) {
    push(moves, `attempt ${request.attempt} lands`, land(state, index, rules))
    push(moves, `attempt ${request.attempt} is lost`, { ...state, in_flight: state.in_flight.toSpliced(index, 1) })
  }
  if (state.retries_left > 0 && state.operation.state === "not_applied")
    push(moves, "the caller retries", retried(state))
  push(moves, "time goes on", tick(state, rules))
  return moves
}

function push(moves: Move[], name: string, next: ModelState | null): void {
  if (next) moves.push({ name, next })
}

/** Applies an event to the row as it is now; null where it is illegal. */
function apply(state: ModelState, event: OperationEvent): Operation | null {
  const step = transition(state.operation, event, { now: state.now, unit: 0, actor: "model" })
  return step.ok ? { ...step.next, seq: 0, head_hash: "" } : null
}

function withWorker(state: ModelState, id: string, change: Partial<ModelWorker>): ModelState {
  return { ...state, workers: state.workers.map((one) => (one.id === id ? { ...one, ...change } : one)) }
}

function loopMoves(state: ModelState, worker: ModelWorker, rules: ModelRules, moves: Move[]): void {
  const { loop } = worker
  if (loop === null) {
    const step = stepFor(state, worker)
    if (step)
      push(
        moves,
        `${worker.id} decides to ${step}`,
        withWorker(state, worker.id, { loop: { kind: "decided", step, read: state.operation } }),
      )
    return
  }
  if (loop.kind === "decided") push(moves, `${worker.id} writes ${loop.step}`, write(state, worker, loop, rules))
  if (loop.kind === "looking") {
    for (const lag of new Set([0, rules.config.visibility_ticks])) {
      const seen = state.effects.some((one) => one.at <= state.now - lag * TICK_MS)
      const task: LoopWork = { kind: "seen", observed_from: loop.observed_from, found: seen }
      push(moves, `${worker.id} sees ${seen ? "it" : "nothing"}`, withWorker(state, worker.id, { loop: task }))
    }
  }
  if (loop.kind === "seen") push(moves, `${worker.id} writes what it saw`, writeLook(state, worker, loop))
}

function stepFor(state: ModelState, worker: ModelWorker): "dispatch" | "probe" | "timer" | "lapse" | null {
  const { operation, now } = state
  if (isTerminal(operation.state)) return null
  const running = operation.attempts.at(-1)
  if (operation.state === "dispatched" && running) {
    const owner = state.workers.find((one) => one.id === running.worker_id)
    if (running.worker_id !== worker.id && (!owner?.alive || owner.lease_until <= now)) return "lapse"
  }
  const step = nextStep(operation, { now, quarantine: false, can_fence: false })
  if (step.do === "dispatch") return worker.attempt === null ? "dispatch" : null
  return step.do === "probe" || step.do === "timer" ? step.do : null
}

function write(
  state: ModelState,
  worker: ModelWorker,
  loop: Extract<LoopWork, { kind: "decided" }>,
  rules: ModelRules,
): ModelState {
  const idle = withWorker(state, worker.id, { loop: null })
  const stale = loop.read.version !== state.operation.version
  if (stale && rules.bug !== "no_version_check") return idle
  const base: ModelState = stale ? { ...state, operation: loop.read } : state
  const operation = apply(base, eventOf(base, worker, loop.step, rules))
  if (!operation) return idle
  const written = {
    ...idle,
    operation: rules.bug === "lapse_disproves" && loop.step === "lapse" ? disproveAll(operation) : operation,
  }
  if (loop.step === "probe")
    return withWorker(written, worker.id, { loop: { kind: "looking", observed_from: state.now } })
  if (loop.step !== "dispatch") return written
  const attempt: OpenAttempt = {
    attempt: operation.attempts.length,
    phase: "before_send",
    outcome: null,
    left: true,
    abandoned: false,
  }
  return withWorker(written, worker.id, { attempt, lease_until: state.now + DEFAULTS.lease_ms })
}

function disproveAll(operation: Operation): Operation {
  return {
    ...operation,
    state: "ready",
    due_at: operation.updated_at,
    attempts: operation.attempts.map((one) => ({ ...one, status: "disproved" as const })),
  }
}

function eventOf(
  state: ModelState,
  worker: ModelWorker,
  step: "dispatch" | "probe" | "timer" | "lapse",
  rules: ModelRules,
): OperationEvent {
  const { operation, now } = state
  switch (step) {
    case "timer":
      return { type: "due" }
    case "lapse":
      return { type: "lapsed", why: "lease" }
    case "probe":
      return { type: "probe_started", worker_id: worker.id, until: now + 4 * TICK_MS }
    case "dispatch":
      return {
        type: "dispatch",
        worker_id: worker.id,
        lease_token: worker.id,
        lease_until: now + DEFAULTS.lease_ms,
        provider_key: `g${operation.generation}`,
        transport: rules.config.transport,
        contract: operation.contract,
        judged_version: operation.version,
        tool_version: "1",
      }
  }
}

function writeLook(state: ModelState, worker: ModelWorker, loop: Extract<LoopWork, { kind: "seen" }>): ModelState {
  const idle = withWorker(state, worker.id, { loop: null })
  const { operation } = state
  const generations = [...new Set([...operation.attempts.map((one) => one.generation), operation.generation])]
  const candidates = loop.found ? [{ object_id: "o", operation_id: "op", state: {} }] : []
  const next = apply(state, {
    type: "evidence",
    context: { now: state.now, taken: [], rivals: 0, clock_stepped_at: null },
    evidence: {
      evidence_id: `look ${operation.version}`,
      source: "probe",
      rank: "observed",
      attempt: null,
      generation: null,
      observed_from: loop.observed_from,
      recorded_at: state.now,
      finding: { kind: "look", candidates, complete: true, search: false, generations },
    },
  })
  return next ? { ...idle, operation: next } : idle
}

function attemptMoves(
  state: ModelState,
  worker: ModelWorker,
  task: OpenAttempt,
  rules: ModelRules,
  moves: Move[],
): void {
  const record = state.operation.attempts[task.attempt - 1]
  const end = (outcome: AttemptOutcome, left: boolean) =>
    withWorker(state, worker.id, { attempt: { ...task, phase: "ended", outcome, left } })
  const ends: AttemptOutcome = { class: "unknown", reason: { code: "threw", text: "no answer" } }
  if (task.phase === "ended") {
    push(moves, `${worker.id} writes the end of attempt ${task.attempt}`, told(state, worker, task))
    return
  }
  if (task.phase === "before_send") {
    const gated = rules.config.transport === "invoke" && rules.bug !== "no_send_gate"
    const before = record?.send_before ?? 0
    if (gated && state.now > before) {
      const reason = { code: "send_window_closed", text: "too late" }
      push(
        moves,
        `${worker.id}'s gate refuses attempt ${task.attempt}`,
        end({ class: "not_applied", reason, proof: "stage", speaks_for: "attempt" }, false),
      )
      return
    }
    const request = { attempt: task.attempt, key: record?.provider_key ?? "", sent_at: state.now, waited_for: true }
    const sent = withWorker(state, worker.id, { attempt: { ...task, phase: "sent" } })
    push(moves, `${worker.id} sends attempt ${task.attempt}`, { ...sent, in_flight: [...state.in_flight, request] })
    if (rules.config.transport === "opaque" && !task.abandoned)
      push(moves, `${worker.id} stops waiting`, abandon(state, worker, task))
    return
  }
  const answered =
    state.effects.some((one) => one.attempt === task.attempt) ||
    (rules.config.keyed && state.effects.some((one) => one.key === record?.provider_key))
  if (answered)
    push(
      moves,
      `attempt ${task.attempt} is answered`,
      end({ class: "applied", output: null, candidate: { object_id: "o", operation_id: "op", state: {} } }, true),
    )
  const failure: AttemptOutcome =
    rules.bug === "timeout_is_failure"
      ? { class: "not_applied", reason: { code: "timeout", text: "failed" }, proof: "word", speaks_for: "attempt" }
      : ends
  push(moves, `attempt ${task.attempt} ends without an answer`, end(failure, true))
}

/** Its own worker no longer waits; the promise goes on and may still send. */
function abandon(state: ModelState, worker: ModelWorker, task: OpenAttempt): ModelState | null {
  const operation = apply(state, { type: "lapsed", why: "timeout" })
  return operation ? withWorker({ ...state, operation }, worker.id, { attempt: { ...task, abandoned: true } }) : null
}

function told(state: ModelState, worker: ModelWorker, task: OpenAttempt): ModelState {
  const free = withWorker(state, worker.id, { attempt: null })
  if (!task.outcome) return free
  const operation = apply(state, {
    type: "outcome",
    attempt: task.attempt,
    outcome: task.outcome,
    left: task.left,
    evidence_id: `end ${task.attempt}`,
  })
  return operation ? { ...free, operation } : free
}

function crash(state: ModelState, worker: ModelWorker): ModelState {
  const dead = withWorker(state, worker.id, { alive: false, attempt: null, loop: null })
  const id = `w${state.workers.length + 1}`
  return {
    ...dead,
    crashes_left: state.crashes_left - 1,
    workers: [...dead.workers, { id, alive: true, attempt: null, loop: null, lease_until: 0 }],
    in_flight: state.in_flight,
  }
}

function gone(state: ModelState, worker: ModelWorker): ModelState | null {
  const operation = apply(state, { type: "worker_gone", worker_id: worker.id, proof: "lock free" })
  return operation ? { ...state, operation } : null
}

function land(state: ModelState, index: number, rules: ModelRules): ModelState {
  const request = state.in_flight[index]
  const rest = { ...state, in_flight: state.in_flight.toSpliced(index, 1) }
  if (!request) return rest
  if (rules.config.keyed && state.effects.some((one) => one.key === request.key)) return rest
  return { ...rest, effects: [...state.effects, { attempt: request.attempt, key: request.key, at: state.now }] }
}

function retried(state: ModelState): ModelState | null {
  const operation = apply(state, {
    type: "retry",
    after_attempt: state.operation.attempts.at(-1)?.attempt ?? 0,
    deadline_at: state.operation.deadline_at,
    automatic: false,
  })
  return operation ? { ...state, operation, retries_left: state.retries_left - 1 } : null
}

/** What is in flight for longer than Q is lost: that is what Q means. */
function tick(state: ModelState, { config }: ModelRules): ModelState | null {
  const now = state.now + TICK_MS
  if (now > 1_000_000 + config.horizon_ticks * TICK_MS) return null
  if (isTerminal(state.operation.state) && state.in_flight.length === 0 && state.workers.every((one) => !one.attempt))
    return null
  return {
    ...state,
    now,
    in_flight: state.in_flight.filter((one) => now - one.sent_at < config.execution_ticks * TICK_MS + 1),
  }
}

/** Whether an attempt that its process still holds can send yet. */
export function canStillSend(state: ModelState, rules: ModelRules): boolean {
  return state.workers.some((worker) => {
    if (!worker.alive || worker.attempt?.phase !== "before_send") return false
    const record = state.operation.attempts[worker.attempt.attempt - 1]
    return rules.config.transport === "opaque" || state.now <= (record?.send_before ?? 0)
  })
}
