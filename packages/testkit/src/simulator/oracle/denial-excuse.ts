/** Where nobody could have known that a denial was wrong (protocol, H1). */
import { clockExcuse } from "./clock-excuse.ts"
import { natureOf, wasForgotten } from "./grouping.ts"
import type { Effect, RunHistory } from "../history.ts"

/** An intermediary that repeats defeats a trusted negative where no key protects; a journal that forgot cannot know. */
export function denialExcuse(history: RunHistory, effect: Effect): "forgotten" | "repeated" | "clock" | null {
  const request = history.requests.find((one) => one.n === effect.request)
  if (!request) return null
  if (wasForgotten(history, request)) return "forgotten"
  if (clockExcuse(history, request, Number.POSITIVE_INFINITY)) return "clock"
  const { remembers, settles, transport } = natureOf(history, effect.tool)
  const twice = history.effects.some((one) => one.request === effect.request && one.repeated)
  // A refusal that our transport saw is believed after one look, which sees what the first made; a tool's own word at once.
  const unseen = settles === "person" || transport === "opaque"
  return request.repeated && remembers === null && (twice || unseen) ? "repeated" : null
}
