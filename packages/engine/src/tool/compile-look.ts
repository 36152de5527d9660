/**
 * The author's probe and fence as the engine calls them: words in, candidates out.
 *
 * CL1. What is no word, and an object without cause where cause is needed, is `unsure` (PA2). A probe that throws has not answered.
 * CL2. A look is complete where the author says so; only the resource of a state-setting tool is complete by itself.
 * CL3. Under `guard` an identity field may stand in the state under its parameter's name; it is read from there where it is equal, never made up.
 */
import type { Candidate, Json, LookupContract } from "@invokejs/protocol"
import type { FenceAnswer, ProbeAnswer, ProbeContext } from "./compiled-tool.ts"
import { identities } from "./identify.ts"
import { namespaceOf, type LooseDefinition } from "./loose-definition.ts"
import { candidateOf, isProbeWord, type FoundWord } from "./probe-answer.ts"

export async function look(
  definition: LooseDefinition,
  lookup: LookupContract,
  parsed: unknown,
  context: ProbeContext,
): Promise<ProbeAnswer> {
  const word: unknown = await definition.look?.(parsed, context)
  if (!isProbeWord(word)) return unsureOf("the probe returned no word; return found(), absent() or unsure()")
  const searched = lookup.consistency === "search"
  switch (word.kind) {
    case "found":
      return foundAnswer(definition, lookup, word, { parsed, operation_id: context.operationId })
    case "absent":
      return { kind: "absent", complete: word.complete === true, search: searched || word.search }
    case "unsure":
      return unsureOf(word.reason)
    case "not_applied":
      return { kind: "not_applied", reason: String(word.reason), permanent: word.permanent === true }
    default:
      return unsureOf("the probe returned the word of a fence")
  }
}

function foundAnswer(
  definition: LooseDefinition,
  lookup: LookupContract,
  word: FoundWord,
  { parsed, operation_id }: { readonly parsed: unknown; readonly operation_id: string },
): ProbeAnswer {
  const candidates = readCandidates(word, { operation_id, namespace: namespaceOf(definition) })
  if (typeof candidates === "string") return unsureOf(candidates)
  const blind = candidates.find((candidate) => !hasCause(candidate, lookup))
  if (blind)
    return unsureOf(
      `the probe found ${blind.object_id} without operationId, providerKey or createdAt, so it may be anybody's`,
    )
  const complete = word.complete ?? lookup.correlates === "state"
  const search = word.search || lookup.consistency === "search"
  if (candidates.length === 0) return { kind: "absent", complete, search }
  const named = definition.form === "guarded" && !definition.expect ? renames(definition, parsed) : []
  return { kind: "found", candidates: candidates.map((one) => withNames(one, named)), complete, search }
}

/** An object that cannot be read is no negative, and no accident of the network either. */
function readCandidates(word: FoundWord, about: Parameters<typeof candidateOf>[1]): readonly Candidate[] | string {
  try {
    return word.objects.map((object) => candidateOf(object, about))
  } catch (error) {
    return `the probe's answer cannot be read: ${error instanceof Error ? error.message : "it threw"}`
  }
}

function hasCause(candidate: Candidate, lookup: LookupContract): boolean {
  if (lookup.correlates !== "created" || !lookup.creation_time || candidate.tombstone) return true
  return (candidate.operation_id ?? candidate.provider_key ?? candidate.created_at) !== undefined
}

interface Rename {
  readonly field: string
  readonly param: string
  readonly value: string
}

/** Identity fields that are exactly one parameter under another name. */
function renames(definition: LooseDefinition, parsed: unknown): readonly Rename[] {
  if (typeof parsed !== "object" || parsed === null) return []
  const params = Object.entries(parsed as { readonly [name: string]: unknown })
  const fields = identities(definition, parsed)[0]?.fields ?? {}
  return Object.entries(fields).flatMap(([field, value]) => {
    const [param, ...more] = params.filter(([, given]) => reads(given, value)).map(([name]) => name)
    return param === undefined || more.length > 0 || param === field ? [] : [{ field, param, value }]
  })
}

function reads(given: unknown, value: string): boolean {
  return (typeof given === "string" || typeof given === "number") && String(given) === value
}

/** Only an equal value is taken over: another one may mean something else there, and must not make the object a stranger's. */
function withNames(candidate: Candidate, named: readonly Rename[]): Candidate {
  const added: { [field: string]: Json } = {}
  for (const { field, param, value } of named) {
    const given = Object.hasOwn(candidate.state, param) ? candidate.state[param] : undefined
    if (given === undefined || !reads(given, value) || Object.hasOwn(candidate.state, field)) continue
    added[field] = given
  }
  if (Object.keys(added).length === 0) return candidate
  // The names are for comparing; what the caller gets is what the probe gave.
  return { ...candidate, state: { ...candidate.state, ...added }, output: candidate.output ?? candidate.state }
}

export async function fenceOff(
  definition: LooseDefinition,
  parsed: unknown,
  context: ProbeContext & { readonly marker: string },
): Promise<FenceAnswer> {
  const word: unknown = await definition.wall?.(parsed, context)
  if (!isProbeWord(word)) return unsureOf("the fence returned no word; return fenced(), collided() or unsure()")
  switch (word.kind) {
    case "fenced":
      return { kind: "fenced", marker: context.marker }
    case "collided":
      try {
        return {
          kind: "collided",
          candidate: candidateOf(word.object, {
            operation_id: context.operationId,
            namespace: namespaceOf(definition),
          }),
        }
      } catch (error) {
        return unsureOf(`what holds the name cannot be read: ${error instanceof Error ? error.message : "it threw"}`)
      }
    case "unsure":
      return unsureOf(word.reason)
    default:
      return unsureOf("the fence returned the word of a probe")
  }
}

const REASON_LENGTH_MAX = 500

function unsureOf(reason: unknown): { readonly kind: "unsure"; readonly reason: string } {
  return { kind: "unsure", reason: String(reason).slice(0, REASON_LENGTH_MAX) }
}
