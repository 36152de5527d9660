/**
 * A request body in chunks, each asked for in the tick in which it is written.
 *
 * The HTTP client asks for the next chunk only after the kernel has taken the one before, because every chunk but the
 * first fills the socket's write buffer (`CHUNK_BYTES` is that buffer's size). So at most one chunk waits outside the
 * kernel, and the end is asked for only when the kernel has everything. The odd bytes come first for that reason.
 */
export const CHUNK_BYTES = 16 * 1024

export interface BodyGate {
  /** Called in the tick of the write of each chunk; the first carries the head. Throws to refuse it. */
  chunk(first: boolean): void
  /** The kernel has taken every byte. */
  end(): void
}

export function gatedBody(body: Uint8Array, gate: BodyGate): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      let at = 0
      return {
        // Not an async function: the chunk must reach the client one microtask after the gate was asked, never a turn
        // later.
        next(): Promise<IteratorResult<Uint8Array>> {
          try {
            if (at >= body.byteLength) {
              gate.end()
              return Promise.resolve({ done: true, value: undefined })
            }
            gate.chunk(at === 0)
          } catch (error) {
            return Promise.reject(error instanceof Error ? error : new Error("refused", { cause: error }))
          }
          const size = at === 0 ? body.byteLength % CHUNK_BYTES || CHUNK_BYTES : CHUNK_BYTES
          const value = body.subarray(at, at + size)
          at += size
          return Promise.resolve({ done: false, value })
        },
      }
    },
  }
}
