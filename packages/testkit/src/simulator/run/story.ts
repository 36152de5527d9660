/** A run told in the order of time, for a person who asks why. */
import type { World } from "./world.ts"

export function storyOf(world: World): readonly string[] {
  const { history, store, start } = world
  const lines = [
    ...history.lines,
    ...history.requests.map((one) => ({
      at: one.at,
      text: `${one.process} sends request ${one.n}: ${one.tool} attempt ${one.attempt} of ${one.operation_id} for ${one.action}${landing(one.landed_at, start)}`,
    })),
    ...history.effects.map((one) => ({
      at: one.at,
      text: `EFFECT ${one.object_id} of ${one.action} by request ${one.request}${one.repeated ? ", sent again by somebody between" : ""}${one.reversed_at === null ? "" : `, taken back at ${one.reversed_at - start}`}`,
    })),
    ...history.writes
      .filter((one) => one.at >= start)
      .map((one) => ({
        at: one.at,
        text: `EFFECT ${one.resource} is ${one.value} (version ${one.version}) by ${one.operation_id ?? "somebody else"}`,
      })),
    ...store.rows.events.map((one) => ({
      at: one.at,
      text: `  ${one.operation_id} ${one.type} ${one.from ?? ""}>${one.to ?? ""} by ${one.actor} ${JSON.stringify(one.data)}`,
    })),
  ]
  return lines.toSorted((a, b) => a.at - b.at).map(({ at, text }) => `${String(at - start).padStart(9)} ${text}`)
}

function landing(landed_at: number | null, start: number): string {
  return landed_at === null ? ", which never arrives" : `, which arrives at ${landed_at - start}`
}
