/** What a strike does to the run. */
import { isTerminal } from "@invokejs/protocol"
import type { Strike } from "../plan/plan.ts"
import { kindsOf } from "../plan/plan.ts"
import type { SeededRandom } from "../seeded-random.ts"
import { traitsOf } from "../tools/tool-kinds.ts"
import { WRONG_RELEASE, type Crew, type Member } from "./crew.ts"
import { restoreStore } from "./restore-store.ts"
import type { World } from "./world.ts"

export function scheduleStrikes(world: World, crew: Crew): void {
  const { plan, scheduler } = world
  for (const one of plan.strikes) {
    const random = world.random(`strike ${one.id}`)
    if (one.kind === "restore" || one.kind === "failover") scheduleRestore(world, crew, one)
    else scheduler.after(one.at, () => strike(world, crew, one, random))
  }
}

function scheduleRestore(world: World, crew: Crew, one: Strike): void {
  const { scheduler, store } = world
  scheduler.after(Math.max(0, one.at - one.for_ms), () => {
    const snapshot = store.snapshot()
    const taken_at = scheduler.now
    scheduler.after(Math.min(one.at, one.for_ms), () => {
      world.counts.add(one.kind)
      restoreStore(world, crew, snapshot, taken_at, one.kind === "restore")
    })
  })
}

function strike(world: World, crew: Crew, one: Strike, random: SeededRandom): void {
  const { counts, scheduler } = world
  const target = crew.able.length > 0 ? random.pick(crew.able) : null
  counts.add(one.kind)
  world.note(`strike: ${one.kind} ${target?.process.name ?? ""} ${one.for_ms} ms`)
  switch (one.kind) {
    case "kill":
      if (target) crew.kill(target)
      scheduler.after(one.for_ms, () => crew.start(target?.version ?? 0))
      return
    case "drain":
    case "deploy":
    case "deploy_wrong":
      return replace(world, crew, one, target)
    case "freeze":
    case "suspend":
      return pause(world, crew, one, target)
    case "outage":
      return outage(world, one, random)
    case "write_of_another":
      return writeOfAnother(world, random)
    case "wall_back":
    case "wall_forward":
      return setWall(world, target, one.kind === "wall_back" ? -one.for_ms : one.for_ms)
    case "database_forward":
      return setDatabase(world, Math.max(one.for_ms, 70_000))
    case "database_back":
      return setDatabase(world, -one.for_ms)
    case "restore":
    case "failover":
      return
  }
}

/** Rolling: the new one is there before the old one has gone. */
function replace(world: World, crew: Crew, { kind }: Strike, target: Member | null): void {
  const { plan } = world
  if (!target) return
  if (kind === "deploy_wrong" && !wouldBeSeen(world)) return
  world.counts.add(`${kind}_done`)
  const version = kind === "deploy" ? Math.min(target.version + 1, plan.versions.length - 1) : target.version
  crew.start(kind === "deploy_wrong" ? WRONG_RELEASE : version)
  void crew.close(target)
}

/**
 * A release with another identity under the same name is refused for what is open under the old one. Where nothing is, nobody can
 * tell that it is wrong.
 */
function wouldBeSeen({ plan, store }: World): boolean {
  const named = kindsOf(plan).filter((kind) => traitsOf(kind).named_by === undefined)
  const open = [...store.rows.operations.values()].filter(
    (one) => !isTerminal(one.state) && one.identity_version === "1" && one.repeats === null,
  )
  return named.length > 0 && named.every((kind) => open.some((one) => one.tool === kind))
}

function pause(world: World, crew: Crew, { kind, for_ms }: Strike, target: Member | null): void {
  const suspend = kind === "suspend"
  // A machine that sleeps sleeps with all that is on it.
  const struck = suspend && world.plan.one_machine ? crew.alive : target ? [target] : []
  for (const { process } of struck) process.freeze(suspend)
  world.scheduler.after(for_ms, () => {
    for (const { process } of struck) process.thaw()
  })
}

function outage(world: World, { for_ms }: Strike, random: SeededRandom): void {
  const provider = random.pick(world.providers)
  provider.reachable = false
  world.scheduler.after(for_ms, () => {
    provider.reachable = true
  })
}

function writeOfAnother(world: World, random: SeededRandom): void {
  const kinds = kindsOf(world.plan).filter((kind) => {
    const { correlates, exclusive } = traitsOf(kind)
    return correlates === "state" && exclusive !== true
  })
  if (kinds.length === 0) return
  const tool = random.pick(kinds)
  const labels = world.plan.calls.filter((one) => one.tool === tool).map((one) => one.label)
  const value = random.pick(["gold", "silver", "bronze"])
  world.provider(tool).resources.set({ tool, resource: random.pick(labels), value, operation_id: null, attempt: 0 })
}

function setWall(world: World, target: Member | null, by_ms: number): void {
  if (!target) return
  target.process.machine.wall_offset_ms += by_ms
  if (world.plan.one_machine) world.history.clock_steps.push({ at: world.scheduler.now, by_ms })
}

function setDatabase(world: World, by_ms: number): void {
  world.database_offset_ms += by_ms
  world.history.clock_steps.push({ at: world.scheduler.now, by_ms })
}
