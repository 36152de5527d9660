/**
 * What has arrived on a socket and was not yet taken. The proxy reads messages out of it at its own pace; the socket
 * is paused while too much waits, so that a slow reader is slow for the sender too.
 */
import type { Socket } from "node:net"

/** Enough for any head and several chunks; small enough that a stalled exchange holds little memory. */
const WAITING_BYTES_MAX = 1024 * 1024

export class ByteQueue {
  readonly #socket: Socket
  readonly #chunks: Buffer[] = []
  #waiting = 0
  #ended = false
  #frozen = false
  #dropping = false
  #wake: (() => void) | null = null

  constructor(socket: Socket, onBytes: (count: number) => void) {
    this.#socket = socket
    socket.on("data", (chunk: Buffer) => {
      onBytes(chunk.length)
      if (this.#dropping) return
      this.#chunks.push(chunk)
      this.#waiting += chunk.length
      if (this.#waiting > WAITING_BYTES_MAX) socket.pause()
      this.#notify()
    })
    const end = (): void => {
      this.#ended = true
      this.#notify()
    }
    socket.on("end", end)
    socket.on("close", end)
    socket.resume() // accepted sockets come paused
  }

  /** The next bytes, or null when no more will come. */
  async next(): Promise<Buffer | null> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#waiting -= chunk.length
        if (this.#waiting <= WAITING_BYTES_MAX && !this.#frozen) this.#socket.resume()
        return chunk
      }
      if (this.#ended) return null
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Puts back bytes that belong to the next message. */
  unread(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#chunks.unshift(bytes)
    this.#waiting += bytes.length
  }

  /** Reads on and forgets what it reads: unread bytes would turn a FIN at close into a reset. */
  drop(): void {
    this.#dropping = true
    this.#chunks.length = 0
    this.#socket.resume()
  }

  /** Stops reading for good while the socket stays open. */
  freeze(): void {
    this.#frozen = true
    this.#socket.pause()
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }
}
