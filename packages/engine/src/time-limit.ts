/** Runs something with a signal that aborts, and a promise that rejects, when the time is over. */
import type { Clock } from "./ports/clock.ts"

export class TimeLimitError extends Error {
  override readonly name = "TimeoutError"
}

export async function withTimeLimit<T>(
  clock: Clock,
  limit_ms: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { promise, reject } = deferred()
  const stop = clock.after(limit_ms, () => {
    const error = new TimeLimitError(`not answered within ${limit_ms} ms`)
    controller.abort(error)
    reject(error)
  })
  try {
    return await Promise.race([run(controller.signal), promise])
  } finally {
    stop()
  }
}

function deferred(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<never>((_, fail) => {
    reject = fail
  })
  promise.catch(() => undefined)
  return { promise, reject }
}
