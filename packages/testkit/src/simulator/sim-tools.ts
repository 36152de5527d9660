/** The tools of a simulation: one of each class, on both transports, over providers that keep what the contracts say. */
import {
  absent,
  defineTool,
  found,
  outcome,
  type AnyTool,
  type AttemptContext,
  type ProbeContext,
} from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { SeededRandom } from "./seeded-random.ts"
import type { SimProcess } from "./sim-process.ts"
import type { ProviderFaults, SimAnswer, SimEffect, SimProvider } from "./sim-provider.ts"

export interface Params {
  readonly action: string
}

const PARAMS: StandardSchemaV1<Params> = {
  "~standard": {
    version: 1,
    vendor: "simulator",
    validate: (value) => {
      const action = (value as Params | null)?.action
      return typeof action === "string" ? { value: { action } } : { issues: [{ message: "no action" }] }
    },
  },
}

export interface ToolWorld {
  readonly process: SimProcess
  readonly random: SeededRandom
  readonly faults: () => ProviderFaults & {
    readonly silent: number
    readonly look_unanswered: number
    readonly tool_stall: number
  }
  readonly provider: (tool: ToolKind) => SimProvider
}

export const TOOL_KINDS = [
  "opaque_checkable",
  "opaque_irreversible",
  "wire_checkable",
  "wire_keyed",
  "wire_created",
  "keyed_by_intent",
] as const
export type ToolKind = (typeof TOOL_KINDS)[number]

export function simTools(world: ToolWorld): readonly AnyTool[] {
  return [
    opaque(world, true),
    opaque(world, false),
    wire(world, "wire_checkable"),
    wire(world, "wire_keyed"),
    wire(world, "wire_created"),
    wire(world, "keyed_by_intent"),
  ]
}

function lookup(world: ToolWorld, kind: ToolKind) {
  const { shape } = world.provider(kind)
  return {
    correlates: kind === "wire_created" ? ("created" as const) : ("operation" as const),
    consistency: "bounded" as const,
    maxExecution: shape.max_execution_ms,
    visibility: shape.visibility_ms,
    spacing: 10_000,
    ...(kind === "wire_created" ? { resolution: shape.resolution_ms } : {}),
  }
}

async function look(world: ToolWorld, kind: ToolKind, params: Params, operationId: string) {
  const provider = world.provider(kind)
  const seen = await world.process.outside(() => provider.look(world.faults().look_unanswered), 1, 1)
  const mine = seen.filter((one) =>
    kind === "wire_created" ? one.action === params.action : one.operation_id === operationId,
  )
  if (mine.length === 0) return absent({ complete: true })
  return found(
    mine.map((one) => objectOf(one, kind)),
    { complete: true },
  )
}

function objectOf(effect: SimEffect, kind: ToolKind) {
  const state = { action: effect.action, done: true }
  return kind === "wire_created"
    ? { id: effect.object_id, createdAt: new Date(effect.created_at), state }
    : { id: effect.object_id, operationId: effect.operation_id, state }
}

const expectation = (p: Params) => ({ match: { action: id(p.action) }, effect: { done: true } })

/** Sends by its own client, whenever it gets round to it. */
function opaque(world: ToolWorld, checkable: boolean): AnyTool {
  const kind: ToolKind = checkable ? "opaque_checkable" : "opaque_irreversible"
  const execute = async ({
    params,
    providerKey,
    operationId,
    attempt,
  }: {
    params: Params
    providerKey: string
    operationId: string
    attempt: number
  }) => {
    const { process, random } = world
    const stall = random.chance(world.faults().tool_stall) ? random.between(1_000, 120_000) : random.between(0, 50)
    await new Promise<void>((resolve) => process.clock.after(stall, resolve))
    const request = {
      process: process.name,
      action: params.action,
      operation_id: operationId,
      key: providerKey,
      attempt,
    }
    const silent = random.chance(world.faults().silent)
    const answer = await process.outside(
      () => world.provider(kind).request(request, world.faults()),
      0,
      random.between(1, 50),
    )
    if (answer === null && silent) await new Promise<never>(() => undefined)
    return said(answer)
  }
  const common = {
    name: kind,
    input: PARAMS,
    identity: (p: Params) => ({ action: id(p.action) }),
    applied: "returned",
    execute,
  } as const
  if (!checkable) return defineTool({ ...common, safety: "irreversible" }) as AnyTool
  return defineTool({
    ...common,
    safety: "write-once-checkable",
    contract: { lookup: lookup(world, kind) },
    probe: ({ params, operationId }: ProbeContext & { params: Params }) => look(world, kind, params, operationId),
    expect: expectation,
  }) as AnyTool
}

function said(answer: SimAnswer | null): { object: string } {
  if (answer === null) throw new Error("connection lost")
  if (answer.status === 200) return { object: answer.object_id ?? "" }
  if (answer.status === 422) throw outcome.rejected({ code: "rejected" })
  if (answer.status === 401 || answer.status === 429) throw outcome.notApplied({ code: `http_${answer.status}` })
  throw new Error(`answered ${answer.status}`)
}

/** Sends through the engine's own transport. */
function wire(world: ToolWorld, kind: ToolKind): AnyTool {
  const { shape } = world.provider(kind)
  const named = kind === "keyed_by_intent"
  const key = shape.keyed
    ? {
        key: {
          sentAs: "header:Idempotency-Key",
          retention: shape.retention_ms,
          replay: "stored" as const,
          inFlight: "refuses" as const,
          replaysErrors: true,
          onMismatch: "refuses" as const,
          proved: { date: "2026-01-01", against: "simulator" },
        },
      }
    : {}
  return defineTool({
    name: kind,
    safety: shape.keyed ? "idempotent" : "write-once-checkable",
    transport: "invoke",
    input: PARAMS,
    ...(named
      ? { intent: (p: Params) => ({ action: id(p.action) }) }
      : { identity: (p: Params) => ({ action: id(p.action) }) }),
    applied: "2xx",
    contract: { lookup: lookup(world, kind), effect: { method: "POST", path: "/effects" }, ...key },
    execute: async ({ params, fetch, providerKey, operationId, attempt }: AttemptContext & { params: Params }) => {
      const answer = await fetch(`http://${kind}.simulated/effects`, {
        method: "POST",
        headers: { "x-sent-by": JSON.stringify({ process: world.process.name, attempt }) },
        body: JSON.stringify({ action: params.action, operation_id: operationId, key: providerKey }),
      })
      const { object_id } = (await answer.json()) as { object_id: string }
      if (answer.status === 200) return { object: object_id }
      throw new Error(`answered ${answer.status}`)
    },
    probe: ({ params, operationId }: ProbeContext & { params: Params }) => look(world, kind, params, operationId),
    expect: expectation,
  } as Parameters<typeof defineTool>[0]) as AnyTool
}
