/** The tools of a simulated process, defined as a user would define them, over providers that keep what the contracts say. */
import {
  collided,
  defineTool,
  fenced,
  outcome,
  type AnyTool,
  type AttemptContext,
  type ContractInput,
  type FenceWord,
  type ProbeContext,
} from "@invokejs/engine"
import { id } from "@invokejs/protocol"
import type { ProviderShape } from "../world/provider-shape.ts"
import { KEY_REFUSED } from "../world/provider-shape.ts"
import { SENT_BY, TOKEN_PATH } from "../world/sim-network.ts"
import type { Incoming, SimAnswer } from "../world/sim-provider.ts"
import { expectation, foundObject, look } from "./looks.ts"
import { traitsOf, type ToolKind } from "./tool-kinds.ts"
import { PARAMS, type Params, type ToolWorld } from "./tool-world.ts"

type Execute = AttemptContext & { readonly params: Params }

export function simTools(world: ToolWorld, kinds: readonly ToolKind[]): readonly AnyTool[] {
  return kinds.map((kind) => simTool(world, kind))
}

function simTool(world: ToolWorld, kind: ToolKind): AnyTool {
  const traits = traitsOf(kind)
  const { shape } = world.provider(kind)
  const { version } = world.version
  const opaque = traits.transport === "opaque"
  const definition = {
    name: kind,
    version,
    input: PARAMS,
    safety: traits.keyed ? "idempotent" : traits.correlates === null ? "irreversible" : "write-once-checkable",
    ...(opaque ? { applied: "returned" } : { applied: "2xx", transport: "invoke" }),
    ...naming(world, kind),
    contract: contractOf(world, kind, shape),
    settleBy: shape.settle_by_ms,
    timeout: shape.timeout_ms,
    deadline: shape.deadline_ms,
    ...(traits.correlates === null && !traits.keyed ? {} : { attempts: shape.attempts }),
    ...(traits.correlates === "state" ? { resource: (p: Params) => p.label } : {}),
    ...(traits.correlates === null
      ? {}
      : {
          probe: (on: ProbeContext & { readonly params: Params }) => look(world, kind, on.params, on),
          expect: expectation(kind),
        }),
    ...(traits.named
      ? {
          fence: (on: ProbeContext & { readonly params: Params; readonly marker: string }) => fence(world, kind, on),
        }
      : {}),
    execute: (on: Execute) =>
      world.executions.during(
        { process: world.process, at: world.scheduler.now, operation_id: on.operationId, attempt: on.attempt },
        () => (opaque ? sendByOwnClient(world, kind, on) : sendByContext(world, kind, on)),
      ),
  }
  // The kinds are a table: their definitions are checked where the engine takes them.
  return defineTool<string, typeof PARAMS, unknown>(definition as never)
}

/** What names an action, in this version of the tool. */
function naming(world: ToolWorld, kind: ToolKind) {
  const { named_by } = traitsOf(kind)
  if (named_by === "key") return {}
  if (named_by === "intent") return { intent: (p: Params) => ({ action: id(p.action) }) }
  const first = (p: Params) => ({ action: id(p.action) })
  const second = (p: Params) => ({ action: id(p.action), label: id(p.label) })
  const { identity } = world.version
  if (identity === "1") return { identity: first }
  if (identity === "wrong") return { identity: second }
  return { identityVersion: "2", identity: second, identityVersions: { "1": first } }
}

function contractOf(world: ToolWorld, kind: ToolKind, shape: ProviderShape): ContractInput {
  const traits = traitsOf(kind)
  const more = world.version.wider ? 2 : 1
  const proved = { date: "2026-01-01", against: "simulator" }
  const { key } = shape
  return {
    ...(traits.correlates === null
      ? {}
      : {
          lookup: {
            correlates: traits.correlates,
            consistency: traits.searched ? "search" : shape.strong ? "strong" : "bounded",
            maxExecution: shape.max_execution_ms * more,
            visibility: shape.visibility_ms * more,
            spacing: 10_000,
            resolution: shape.resolution_ms,
            ...(traits.timeless ? { creationTime: false } : {}),
          },
        }),
    ...(key === null
      ? {}
      : {
          key: {
            sentAs: "header:Idempotency-Key",
            retention: Math.floor(key.retention_ms / more),
            replay: key.replay,
            inFlight: key.in_flight,
            replaysErrors: key.replays_errors,
            onMismatch: key.on_mismatch,
            ...(key.answers_for_key ? { answersForKey: [KEY_REFUSED] } : {}),
            proved,
          },
        }),
    ...(traits.named ? { fence: { kind: "tombstone", permanent: true, proved } } : {}),
    ...(traits.transport === "invoke" && !traits.sloppy ? { effect: { method: "POST", path: "/effects" } } : {}),
    ...(traits.exclusive ? { exclusive: true } : {}),
    ...(shape.many ? { many: true } : {}),
  }
}

function incomingOf(world: ToolWorld, { params, operationId, attempt, providerKey }: Execute): Incoming {
  const { action, label, value } = params
  const about = { process: world.process.name, operation_id: operationId, attempt, key: providerKey }
  const { body } = world.version
  return { ...about, action, label, value, body: JSON.stringify({ ...params, ...(body === 1 ? {} : { form: body }) }) }
}

/** Sends by its own client, whenever it gets round to it. */
async function sendByOwnClient(world: ToolWorld, kind: ToolKind, on: Execute): Promise<unknown> {
  const { process, random, counts } = world
  const { tool_stall, tool_hours, silent } = world.faults()
  const hours = random.chance(tool_hours)
  const stalls = random.chance(tool_stall)
  if (hours || stalls) counts.add(hours ? "tool_hours" : "tool_stall")
  const wait = hours
    ? random.between(3_600_000, 18_000_000)
    : stalls
      ? random.between(1_000, 120_000)
      : random.between(0, 50)
  await new Promise<void>((resolve) => process.clock.after(wait, resolve))
  const hang = random.chance(silent)
  const incoming = incomingOf(world, on)
  const answer = await process.outside(
    () => world.provider(kind).receive(incoming, world.faults()),
    0,
    random.between(1, 50),
  )
  if (answer === null && hang) await new Promise<never>(() => undefined)
  return said(world, kind, answer)
}

function said(world: ToolWorld, kind: ToolKind, answer: SimAnswer | null): unknown {
  if (answer === null) throw new Error("connection lost")
  const { status, object_id = "" } = answer
  if (status === 200 || status === 201) return applied(world, kind, object_id)
  if (status === 400 || status === 422) throw outcome.rejected({ code: `http_${status}` })
  if ([401, 403, 429, 503].includes(status)) throw notApplied(answer.status, answer.retry_after_s)
  throw new Error(`answered ${status}`)
}

function notApplied(status: number, retry_after_s: number | undefined): Error {
  const code = `http_${status}`
  return outcome.notApplied(retry_after_s === undefined ? { code } : { code, retryAfter: retry_after_s * 1_000 })
}

/** Some authors name the object that was made, some only return it. */
function applied(world: ToolWorld, kind: ToolKind, object_id: string): unknown {
  const made = world.provider(kind).objects.find((one) => one.object_id === object_id)
  if (!made || world.random.chance(0.5)) return { object: object_id }
  return outcome.applied({ object: object_id }, { object: foundObject(made, kind, world.scheduler.now) })
}

/** Sends through the engine's own transport. */
async function sendByContext(world: ToolWorld, kind: ToolKind, on: Execute): Promise<unknown> {
  const { random } = world
  const { body, ...about } = incomingOf(world, on)
  const { sloppy } = traitsOf(kind)
  const post = (path: string) =>
    on.fetch(`http://${kind}.simulated${path}`, {
      method: "POST",
      headers: { [SENT_BY]: JSON.stringify(about), "content-type": "application/json" },
      body,
    })
  const twice = sloppy && random.chance(world.faults().second_effect)
  if (twice) world.counts.add("second_effect")
  if (twice && random.chance(0.5)) await post(TOKEN_PATH)
  const answer = await post("/effects")
  const { status } = answer
  if (sloppy && status >= 500) return { error: status }
  if ([429, 503].includes(status)) throw notApplied(status, undefined)
  if (status >= 300) throw new Error(`answered ${status}`)
  const { object_id } = (await answer.json()) as { readonly object_id: string }
  if (twice) await post("/effects")
  return status === 202 ? { object: object_id } : applied(world, kind, object_id)
}

async function fence(
  world: ToolWorld,
  kind: ToolKind,
  { providerKeys, marker, operationId }: ProbeContext & { readonly marker: string },
): Promise<FenceWord> {
  const name = providerKeys.at(-1) ?? operationId
  const provider = world.provider(kind)
  const held = await world.process.outside(() => provider.claim(name, marker, world.faults()), 1, 1)
  if (held === null) return fenced()
  if (typeof held === "string") return collided({ id: name, marker: held, state: { label: "", done: false } })
  return collided(foundObject(held, kind, world.scheduler.now))
}
