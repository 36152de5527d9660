// What holds for every step of every operation, whatever happened before. Written from the protocol's page, not from the code:
// protection of a key, and what is positive, are computed here once more.

import { expect } from "vitest"
import { isTerminal, transition } from "@invokejs/protocol"
import type { Evidence, Operation, OperationEvent, Step, TransitionContext } from "@invokejs/protocol"

const MINUTE = 60_000

export function checkStep(before: Operation, event: OperationEvent, step: Step, now: number): void {
  const after = step.next
  expect(after.version, "one step, one version").toBe(before.version + 1)
  expect(after.updated_at).toBe(now)
  if (event.type !== "told") expect(step.events.length, `${event.type} leaves an event`).toBeGreaterThan(0)
  expect(step.events.every((one) => one.from === before.state)).toBe(true)
  if (after.state !== before.state)
    expect(step.events.at(-1)?.to, "the timeline ends where the operation does").toBe(after.state)
  checkTimer(after)
  checkRecord(before, event, after)
  checkEvidence(before, after)
  checkDenial(after)
  if (event.type === "dispatch") checkDispatch(before, after, now)
  if (after.state === "succeeded" && before.state !== "succeeded") checkPositive(after)
  if (before.contradicted && event.type !== "amend")
    expect([after.state, after.contradicted]).toEqual([before.state, true])
  if (event.type === "evidence" && event.evidence.rank === "claimed") checkClaim(before, after)
  if (before.state === "needs_review" && event.type !== "resolve") expect(after.state).not.toBe("ready")
}

/** The same event once more, right away: refused, or nothing that decides has changed. */
export function checkReplay(after: Operation, event: OperationEvent, context: TransitionContext): void {
  // A timer is not named: what is due after a step is another one.
  if (event.type === "due") return
  const again = transition(after, event, context)
  if (!again.ok) return
  expect({ ...again.next, version: after.version }, `${event.type} twice is once`).toEqual(after)
}

function checkTimer(after: Operation): void {
  if (isTerminal(after.state)) {
    expect(after.due_at, `${after.state} has no timer`).toBeNull()
    expect(after.settled_at).not.toBeNull()
    expect(after.probes.lease).toBeNull()
  } else {
    expect(after.due_at, `${after.state} has a timer`).not.toBeNull()
    expect(after.settled_at).toBeNull()
  }
}

function checkRecord(before: Operation, event: OperationEvent, after: Operation): void {
  expect(after.attempts.length).toBe(before.attempts.length + (event.type === "dispatch" ? 1 : 0))
  for (const [at, was] of before.attempts.entries()) {
    const is = after.attempts[at]
    for (const fixed of [
      "attempt",
      "generation",
      "provider_key",
      "send_before",
      "last_possible_send",
      "dispatched_at",
    ] as const) {
      expect(is?.[fixed], `${fixed} of an attempt is never changed`).toBe(was[fixed])
    }
    if (was.status === "acknowledged" && event.type !== "amend") expect(is?.status).toBe("acknowledged")
    if (was.status === "disproved") expect(["disproved", "acknowledged", "accepted"]).toContain(is?.status)
  }
  expect(after.generation).toBeGreaterThanOrEqual(before.generation)
  if (after.generation > before.generation) {
    const old = after.attempts.filter((one) => one.generation === before.generation)
    expect(
      old.every((one) => one.status === "disproved" || one.status === "acknowledged" || one.status === "accepted"),
    ).toBe(true)
  }
}

const lasting = ({ finding, rank }: Evidence): boolean =>
  rank !== "claimed" && finding.kind !== "look" && finding.kind !== "unsure"

function checkEvidence(before: Operation, after: Operation): void {
  const ids = after.evidence.map((one) => one.evidence_id)
  expect(new Set(ids).size, "evidence is recorded once").toBe(ids.length)
  for (const one of before.evidence)
    if (lasting(one)) expect(ids, "a positive or a proof is never lost").toContain(one.evidence_id)
}

/** S3: a denial needs every attempt disproved. */
function checkDenial(after: Operation): void {
  const denies = after.state === "failed" || after.state === "not_applied" || after.state === "replan"
  if (denies && !after.contradicted) expect(after.attempts.every((one) => one.status === "disproved")).toBe(true)
  if (["refused", "denied", "expired", "cancelled"].includes(after.state)) expect(after.attempts).toEqual([])
  if (after.state === "ready" || after.state === "awaiting_approval") {
    expect(
      after.attempts.every((one) => one.status === "disproved"),
      `${after.state} has nothing undecided`,
    ).toBe(true)
  }
}

/** S1, from the page: every earlier attempt disproved, or its generation's key protects now. */
function checkDispatch(before: Operation, after: Operation, now: number): void {
  expect(["ready", "unknown"]).toContain(before.state)
  expect(before.barred || before.contradicted || before.restored !== null).toBe(false)
  expect(now).toBeLessThan(before.deadline_at)
  const made = after.attempts.at(-1)
  const pending = before.attempts.filter((one) => one.status !== "disproved")
  expect(pending.some((one) => one.status === "acknowledged" || one.status === "accepted")).toBe(false)
  expect(made?.send_before ?? 0).toBeGreaterThan(now)
  expect(made?.send_before ?? 0).toBeLessThanOrEqual(before.deadline_at)
  if (pending.length === 0) return
  const { key, timeout_ms, lookup } = after.contract
  expect(key?.proved).toBeDefined()
  expect(["stored", "finishes"]).toContain(key?.replay)
  const retention = key?.retention_ms ?? 0
  const margin = Math.max(timeout_ms + (lookup?.max_execution_ms ?? 5 * MINUTE) + 2_000, 5 * MINUTE, retention / 10)
  const first = Math.min(
    ...after.attempts.filter((one) => one.generation === made?.generation).map((one) => one.dispatched_at),
  )
  expect(made?.send_before ?? 0).toBeLessThanOrEqual(first + retention - margin)
  for (const one of pending) {
    expect([one.generation, one.provider_key]).toEqual([made?.generation, made?.provider_key])
  }
}

/** S3: a success needs an acknowledgement, a word that decides, or an object that was seen. */
function checkPositive(after: Operation): void {
  expect(after.cause).not.toBeNull()
  const supported = after.evidence.some(({ finding, rank }) => {
    if (rank === "claimed") return false
    return finding.kind === "applied" || (finding.kind === "look" && finding.candidates.length > 0 && !finding.search)
  })
  expect(supported, "a success rests on evidence").toBe(true)
}

function checkClaim(before: Operation, after: Operation): void {
  expect([after.state, after.verdict, after.barred, after.generation]).toEqual([
    before.state,
    before.verdict,
    before.barred,
    before.generation,
  ])
  expect(after.attempts).toEqual(before.attempts)
}
