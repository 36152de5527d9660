/** Where the database's clock hid what nobody could know without it. */
import { natureOf, recordAt } from "./grouping.ts"
import type { RunHistory, SentRequest } from "../history.ts"

/** A jump of more than this restarts every window that could have been open (protocol §6, `maxClockStep`). */
const NOTICED_STEP_MS = 60_000

/**
 * A jump forward that is too small to be told from the clock's error, or that a process which began after it cannot know of; and a
 * clock set back, which stands still until it has caught up, so that a provider forgets a key sooner than our time says.
 */
export function clockExcuse(history: RunHistory, sent: SentRequest, until: number): boolean {
  const recorded_at = recordAt(history, sent.operation_id, sent.attempt, sent.at)?.committed_at ?? sent.at
  const { remembers } = natureOf(history, sent.tool)
  return history.clock_steps.some(({ at, by_ms }) => {
    if (at > until) return false
    if (by_ms < 0) return remembers !== null && at - by_ms >= recorded_at
    if (at < recorded_at) return false
    return by_ms <= NOTICED_STEP_MS || history.births.some((born_at) => born_at >= at && born_at <= until)
  })
}
