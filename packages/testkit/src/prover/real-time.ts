/** The prover's only real waiting: sockets need real time, and so may a tool. */
import { systemClock } from "@invokejs/engine"

/** Lets what is ready run. */
export async function turns(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

export async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => systemClock.after(ms, resolve, { keep_alive: true }))
}

/** Real milliseconds, for patience only. */
export function realNow(): number {
  return systemClock.monotonic()
}
