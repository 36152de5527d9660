/** What the tools of a simulation see of the world, and what they expect to see. */
import {
  absent,
  found,
  type ExpectationInput,
  type FoundObject,
  type ProbeContext,
  type ProbeWord,
} from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import type { SimObject } from "../world/sim-provider.ts"
import { traitsOf, type ToolKind } from "./tool-kinds.ts"
import type { Params, ToolWorld } from "./tool-world.ts"

export async function look(world: ToolWorld, kind: ToolKind, params: Params, on: ProbeContext): Promise<ProbeWord> {
  const traits = traitsOf(kind)
  if (traits.correlates === "state") return lookAtResource(world, kind, params)
  const { process, scheduler } = world
  const provider = world.provider(kind)
  const searched = traits.searched === true
  const seen = await process.outside(() => provider.look(world.faults(), searched), 1, 1)
  const mine = seen.objects.filter((one) =>
    traits.correlates === "created"
      ? one.label === params.label
      : one.operation_id === on.operationId || (one.key !== null && on.providerKeys.includes(one.key)),
  )
  const { complete } = seen
  if (mine.length === 0) return absent(searched ? { complete, search: true } : { complete })
  return found(
    mine.map((one) => foundObject(one, kind, scheduler.now)),
    { complete },
  )
}

export function foundObject(object: SimObject, kind: ToolKind, now: number): FoundObject {
  const traits = traitsOf(kind)
  const reversed = object.reversed_at !== null && object.reversed_at <= now
  const state = { label: object.label, object: object.object_id, done: now >= object.done_at, reversed }
  const made = traits.timeless ? {} : { createdAt: new Date(object.created_at) }
  const about = { id: object.object_id, state, ...made, ...(reversed ? { final: true } : {}) }
  if (traits.correlates !== "operation") return about
  return {
    ...about,
    ...(object.operation_id === null ? {} : { operationId: object.operation_id }),
    ...(object.key === null ? {} : { providerKey: object.key }),
  }
}

async function lookAtResource(world: ToolWorld, kind: ToolKind, params: Params): Promise<ProbeWord> {
  const provider = world.provider(kind)
  const read = await world.process.outside(() => provider.readResource(params.label, world.faults()), 1, 1)
  const { value, version } = read ?? { value: "", version: 0 }
  const state = { resource: params.label, value, object: `${params.label}/${version}` }
  return found({ id: params.label, version: String(version), state }, { complete: true })
}

export function expectation(kind: ToolKind): (params: Params) => ExpectationInput {
  switch (traitsOf(kind).correlates) {
    case "state":
      return (p) => ({ match: { resource: id(p.label) }, effect: { value: id(p.value) } })
    case "created":
      return (p) => ({ match: { label: id(p.label) }, effect: { done: true } })
    default:
      return (p) => ({ match: { label: id(p.label) }, effect: { done: true }, invariant: { reversed: false } })
  }
}
