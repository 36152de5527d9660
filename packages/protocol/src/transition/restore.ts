/**
 * A journal that went back in time (protocol §11, R24, item 18).
 *
 * RT1. Whatever the row says, an attempt could have been sent until then: it is unknown, with or without an attempt on record.
 * RT2. Key generations older than the change stay lapsed for good.
 * RT3. Where it stood is kept; only looks after that window, or a person, lead back (DN4).
 */
import { isTerminal } from "../state.ts"
import { illegal, type StepBuilder, type Transition } from "./step.ts"

export function restored(step: StepBuilder, until: number): Transition {
  const { operation } = step
  if (isTerminal(operation.state)) return illegal(operation, "it is settled")
  if (operation.safety === "read-only")
    return illegal(operation, "a read leaves nothing behind that could be forgotten")
  if (operation.restored !== null && operation.restored.until >= until)
    return illegal(operation, "it is marked already")
  const generations = [operation.generation, ...Object.keys(operation.generation_started_at).map(Number)]
  step.set({
    restored: { until, returns_to: operation.restored?.returns_to ?? operation.state },
    generation_started_at: Object.fromEntries(generations.map((one) => [one, null])),
    attempts: operation.attempts.map((one) => (one.status === "open" ? { ...one, status: "unknown" } : one)),
  })
  if (operation.state !== "needs_review" && operation.state !== "accepted") {
    step.enter("unknown", { reason: { code: "restored", text: "the journal went back in time" }, due_at: step.now })
  }
  return step.event("restored", { until }).finish()
}
