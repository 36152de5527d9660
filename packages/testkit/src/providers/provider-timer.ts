/** A provider's only use of a timer: the latency it is told to have. */
import { setTimeout as after } from "node:timers/promises"

export async function latency(ms: number): Promise<void> {
  if (ms > 0) await after(ms)
}
