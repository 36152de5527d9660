/**
 * The author's contract as the record that is frozen into dispatch records, every default filled in.
 *
 * What the author read (sources) stays with the tool: two kilobytes of links in every row would prove nothing about it.
 *
 * Owns: the defaults. They are pessimistic: what is not declared neither permits a dispatch nor shortens a window.
 */
import {
  DEFAULTS,
  type AppliedRule,
  type Contract,
  type FenceContract,
  type KeyContract,
  type LookupContract,
} from "@invokejs/protocol"
import type { ContractInput, FenceInput, KeyInput, LookupInput } from "./contract-input.ts"
import { durationMs } from "./duration.ts"
import type { AppliedWord } from "./interpret.ts"
import type { LooseDefinition } from "./loose-definition.ts"

/** Providers that give creation times mostly give whole seconds. */
const RESOLUTION_MS = 1_000

export function compileContract(definition: LooseDefinition): Contract {
  const input: ContractInput = definition.contract ?? {}
  const attempts = definition.safety === "irreversible" ? DEFAULTS.attempts_irreversible : DEFAULTS.attempts
  return {
    applied: appliedRule(appliedOf(definition)),
    ...(input.definite && input.definite.length > 0 ? { definite: [...input.definite] } : {}),
    ...(input.key ? { key: keyContract(input.key) } : {}),
    ...(definition.look ? { lookup: lookupContract(input.lookup ?? {}, correlatesOf(definition)) } : {}),
    ...(input.fence ? { fence: fenceContract(input.fence) } : {}),
    has_resource: definition.resource !== undefined,
    exclusive: input.exclusive === true,
    shared: input.shared === true,
    many: input.many === true,
    ...(input.effect ? { effect: { method: input.effect.method, path: input.effect.path } } : {}),
    timeout_ms: durationMs(definition.timeout) ?? DEFAULTS.timeout_ms,
    attempts: definition.attempts ?? attempts,
    deadline_ms: durationMs(definition.deadline) ?? DEFAULTS.deadline_ms,
    settle_by_ms: durationMs(definition.settleBy) ?? DEFAULTS.settle_by_ms,
  }
}

/** A read-only tool's value is its answer; the checks have refused every other tool that says nothing. */
export function appliedOf(definition: LooseDefinition): AppliedWord {
  return (
    definition.applied ?? definition.contract?.applied ?? (definition.safety === "read-only" ? "returned" : "outcome")
  )
}

function appliedRule(applied: AppliedWord): AppliedRule {
  return typeof applied === "function" ? "predicate" : applied
}

/**
 * What may make an object ours. `guard` that says nothing gets `created`: an object that carries our operation id is ours under
 * every rule, and one without id and without creation time decides nothing.
 */
export function correlatesOf(definition: LooseDefinition): "operation" | "created" | "state" {
  return definition.contract?.lookup?.correlates ?? (definition.resource ? "state" : "created")
}

function keyContract(input: KeyInput): KeyContract {
  const retention = durationMs(input.retention)
  return {
    sent_as: input.sentAs,
    ...(retention === null ? {} : { retention_ms: retention }),
    replay: input.replay ?? "executes",
    in_flight: input.inFlight ?? "races",
    replays_errors: input.replaysErrors ?? true,
    on_mismatch: input.onMismatch ?? "ignores",
    ...(input.scope === undefined ? {} : { scope: input.scope }),
    ...(input.maxLength === undefined ? {} : { max_length: input.maxLength }),
    ...(input.alphabet === undefined ? {} : { alphabet: input.alphabet }),
    ...(input.answersForKey ? { answers_for_key: [...input.answersForKey] } : {}),
    ...(input.coveredHeaders ? { covered_headers: [...input.coveredHeaders] } : {}),
    ...(input.proved ? { proved: { date: input.proved.date, against: input.proved.against } } : {}),
  }
}

function lookupContract(input: LookupInput, correlates: LookupContract["correlates"]): LookupContract {
  // A strong lookup has no lag: two looks at it need to be apart only far enough to be two.
  const strong = input.consistency === "strong"
  const visibility_ms = durationMs(input.visibility) ?? (strong ? 0 : DEFAULTS.visibility_ms)
  return {
    correlates,
    consistency: input.consistency ?? "bounded",
    max_execution_ms: durationMs(input.maxExecution) ?? DEFAULTS.max_execution_ms,
    visibility_ms,
    negatives: input.negatives ?? DEFAULTS.negatives,
    spacing_ms: durationMs(input.spacing) ?? Math.max(DEFAULTS.spacing_min_ms, visibility_ms),
    resolution_ms: durationMs(input.resolution) ?? RESOLUTION_MS,
    skew_ms: durationMs(input.skew) ?? DEFAULTS.skew_ms,
    creation_time: input.creationTime ?? true,
  }
}

function fenceContract(input: FenceInput): FenceContract {
  return {
    kind: input.kind,
    permanent: input.permanent === true,
    ...(input.proved ? { proved: { date: input.proved.date, against: input.proved.against } } : {}),
  }
}
