/** What the call without a fault teaches: the effect request, the contract as it was frozen, and what can be tried. */
import type { Json } from "@invokejs/protocol"
import type { Fake } from "./fake-provider.ts"
import type { Facts } from "./plan-cases.ts"
import { followsClock, truthMs, type Subject } from "./prove-module.ts"
import type { Observation } from "./run-case.ts"
import { pathOf } from "./case-faults.ts"

/** Null where the call made no operation, or no request that could be the effect. */
export function factsOf(
  subject: Subject,
  clean: Observation,
  fakes: { readonly fake: Fake; readonly twin: Fake | null },
): Facts | null {
  const [operation] = clean.operations
  const sent = clean.log.filter((entry) => entry.side === "call")
  const request =
    sent.find((entry) => entry.made > 0) ??
    sent.findLast(({ request: { method } }) => method !== "GET" && method !== "HEAD")
  if (operation === undefined || request === undefined) return null
  const { contract, checkable } = operation
  const { lookup } = contract
  const shown = lookup === undefined || lookup.consistency === "strong" ? 0 : lookup.visibility_ms
  return {
    contract,
    checkable,
    effect: { method: request.request.method, path: pathOf(request.request.path) },
    has_body: request.request.body !== "",
    lands_ms: truthMs(fakes.fake.landsWithin, lookup?.max_execution_ms ?? 0),
    shows_ms: truthMs(fakes.fake.showsWithin, shown),
    two_fakes: fakes.twin !== null,
    follows_clock: followsClock(fakes.fake),
    has_other: subject.entry.other !== undefined,
    words: subject.entry.words ?? wordsOf(subject.entry.params),
  }
}

/** Texts that somebody phrased: three words or more. */
function wordsOf(params: Json): readonly string[] {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return []
  return Object.entries(params)
    .filter(([, value]) => typeof value === "string" && value.trim().split(/\s+/).length >= 3)
    .map(([name]) => name)
}
