/**
 * A script of fault rules, spent in order. It owns the counts of what is left; it touches no socket.
 *
 * 1. The first rule that is not spent and matches is the one applied; a rule is spent only by being applied.
 * 2. A connection is refused or frozen unread only when the first rule that could touch it says so without asking
 *    anything about a request; else the decision waits for the request.
 * 3. A rule on the answer is looked at only when no rule on the request named an answer-side fault.
 */
import { chosenFaults, PASS, type ChosenFaults, type Fault, type FaultMatch, type FaultRule } from "./fault.ts"

/** What a request rule can see. `whole` is null until the body has been read. */
export interface SeenRequest {
  readonly connection: number
  readonly method: string
  readonly path: string
  readonly whole: Buffer | null
}

interface LiveRule {
  readonly match: FaultMatch
  readonly faults: ChosenFaults
  left: number
}

export class RuleScript {
  readonly #rules: LiveRule[]
  readonly #otherwise: ChosenFaults

  constructor(rules: readonly FaultRule[], otherwise: Fault | readonly Fault[] = PASS) {
    this.#rules = rules.map((rule) => liveRule(rule))
    this.#otherwise = chosenFaults(otherwise)
  }

  /** How many applications the script still has before only the default remains. */
  get left(): number {
    return this.#rules.reduce((sum, rule) => sum + rule.left, 0)
  }

  /** Invariant 2: refuse or freeze before a byte is read. */
  atConnection(connection: number): ChosenFaults | null {
    const first = this.#rules.find((rule) => rule.left > 0 && matchesConnection(rule.match, connection))
    if (first === undefined) return actsUnread(this.#otherwise) ? this.#otherwise : null
    const asksAboutRequest =
      first.match.method !== undefined || first.match.path !== undefined || first.match.marker !== undefined
    if (asksAboutRequest || !actsUnread(first.faults)) return null
    first.left -= 1
    return first.faults
  }

  /** True when a rule that may apply has to see the body before it can say so. */
  needsBody(request: SeenRequest): boolean {
    return this.#rules.some(
      (rule) => rule.left > 0 && rule.match.marker !== undefined && onRequest(rule) && matchesHead(rule.match, request),
    )
  }

  atRequest(request: SeenRequest): ChosenFaults {
    const rule = this.#rules.find((candidate) => {
      if (candidate.left <= 0 || !onRequest(candidate) || !matchesHead(candidate.match, request)) return false
      return candidate.match.marker === undefined || contains(request.whole, candidate.match.marker)
    })
    if (rule === undefined) return this.#otherwise
    rule.left -= 1
    return rule.faults
  }

  /** True when the answer must be read whole because a rule may look for a marker in it. */
  needsAnswer(request: SeenRequest): boolean {
    return this.#rules.some((rule) => rule.left > 0 && !onRequest(rule) && matchesHead(rule.match, request))
  }

  atAnswer(request: SeenRequest, answer: Buffer): ChosenFaults | null {
    const rule = this.#rules.find((candidate) => {
      if (candidate.left <= 0 || onRequest(candidate) || !matchesHead(candidate.match, request)) return false
      return candidate.match.marker === undefined || contains(answer, candidate.match.marker)
    })
    if (rule === undefined) return null
    rule.left -= 1
    return rule.faults
  }
}

function liveRule(rule: FaultRule): LiveRule {
  const faults = chosenFaults(rule.fault)
  const match = rule.match ?? {}
  if (match.direction === "answer" && faults.request.kind !== "pass") {
    throw new Error(`a rule on the answer comes too late for the request-side fault "${faults.request.kind}"`)
  }
  const times = rule.times ?? 1
  return { match, faults, left: times === "always" ? Number.POSITIVE_INFINITY : times }
}

function actsUnread(faults: ChosenFaults): boolean {
  return faults.request.kind === "refuse" || faults.request.kind === "half_open"
}

function onRequest(rule: LiveRule): boolean {
  return rule.match.direction !== "answer"
}

function matchesConnection(match: FaultMatch, connection: number): boolean {
  return match.connection === undefined || match.connection === connection
}

function matchesHead(match: FaultMatch, request: SeenRequest): boolean {
  if (!matchesConnection(match, request.connection)) return false
  if (match.method !== undefined && match.method !== request.method) return false
  if (match.path === undefined) return true
  return match.path.endsWith("*") ? request.path.startsWith(match.path.slice(0, -1)) : request.path === match.path
}

function contains(bytes: Buffer | null, marker: string): boolean {
  return bytes !== null && bytes.includes(marker)
}
