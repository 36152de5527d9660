/** Waits for a condition. The bound only turns a hang into a failure: it is far above any honest run. */
import { systemClock } from "@invokejs/engine"

const LOOK_EVERY_MS = 10
const GIVE_UP_MS = 30_000

export async function waitFor(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const started = systemClock.monotonic()
  while (!(await holds())) {
    if (systemClock.monotonic() - started > GIVE_UP_MS) throw new Error(`waited in vain until ${what}`)
    await new Promise<void>((resolve) => systemClock.after(LOOK_EVERY_MS, resolve, { keep_alive: true }))
  }
}
