/** The proxy's only use of a timer: delays. A closing proxy ends them all. */
import { setTimeout as after } from "node:timers/promises"

export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await after(ms, undefined, { signal, ref: false })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
