/**
 * Answers a test has ordered from a provider in advance. Unlike the proxy's, these are the provider's own: they decide
 * whether it executed, and what it stored under the key.
 */
import type { ProviderRequest } from "./provider.ts"

/**
 * `before_key`: answered before the key layer looks (401, 429, a load-shedding 503); nothing executes, nothing is stored.
 * `execution`: execution had begun but made no effect (a decline, a 500); the answer is stored and replayed.
 * `after_effect`: the effect is in the ledger, and this answer is stored instead of the true one.
 */
export type AnswerStage = "before_key" | "execution" | "after_effect"

export interface AnswerRule {
  readonly stage: AnswerStage
  readonly match?: {
    readonly method?: string
    /** A trailing `*` matches every path that begins so. */
    readonly path?: string
    /** Text that occurs in the body. */
    readonly marker?: string
  }
  readonly times?: number | "always"
  /** The status to answer with. Without it the true answer stands and only `then` applies. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON; without it the provider's own words for that status. */
  readonly body?: unknown
  /** How the answer leaves: written, not at all with the connection ended or left open, or the process dies instead. */
  readonly then?: "answer" | "fin" | "rst" | "silence" | "exit"
}

const STAGES: readonly string[] = ["before_key", "execution", "after_effect"] satisfies AnswerStage[]

export class AnswerRules {
  #rules: { readonly rule: AnswerRule; left: number }[] = []

  /** Replaces what was ordered before. */
  order(rules: readonly AnswerRule[]): void {
    for (const rule of rules) {
      if (!STAGES.includes(rule.stage)) throw new Error(`unknown stage "${rule.stage}"; known: ${STAGES.join(", ")}`)
    }
    this.#rules = rules.map((rule) => ({
      rule,
      left: rule.times === "always" ? Number.POSITIVE_INFINITY : (rule.times ?? 1),
    }))
  }

  /** The first rule left for this stage and request, spent once by being taken. */
  take(stage: AnswerStage, request: ProviderRequest): AnswerRule | null {
    const found = this.#rules.find(({ rule, left }) => left > 0 && rule.stage === stage && matches(rule, request))
    if (found === undefined) return null
    found.left -= 1
    return found.rule
  }
}

function matches(rule: AnswerRule, request: ProviderRequest): boolean {
  const { method, path, marker } = rule.match ?? {}
  if (method !== undefined && method !== request.method) return false
  if (marker !== undefined && !request.body.includes(marker)) return false
  if (path === undefined) return true
  return path.endsWith("*") ? request.path.startsWith(path.slice(0, -1)) : path === request.path
}
