/**
 * The client's end of a proxied connection. It owns the client's socket: every write to it, and how it ends.
 *
 * 1. After `end` or `freeze` nothing is written and no further request is read.
 * 2. A reset is sent only after the bytes before it were handed to the kernel, so that a cut is a cut and not a loss.
 */
import type { Socket } from "node:net"
import { ByteQueue } from "./byte-queue.ts"
import type { EndBy } from "./fault.ts"
import type { ProxyCounters } from "./proxy-record.ts"

export class ClientSide {
  readonly queue: ByteQueue
  readonly #socket: Socket
  readonly #counters: ProxyCounters
  #over = false
  #gone = false

  constructor(socket: Socket, counters: ProxyCounters) {
    this.#socket = socket
    this.#counters = counters
    // A reset by the client is an ordinary event here; "close" follows and ends the queue.
    socket.on("error", () => {})
    const leave = (): void => {
      if (!this.#over) this.#gone = true
    }
    socket.on("end", leave)
    socket.on("close", leave)
    this.queue = new ByteQueue(socket, (count) => {
      counters.bytes_from_client += count
    })
  }

  /** True once no further request is read from this connection. */
  get over(): boolean {
    return this.#over
  }

  /** True when the client ended the connection before the proxy did. */
  get gone(): boolean {
    return this.#gone
  }

  /** Hands bytes to the kernel; false when there was no open connection to hand them to. */
  async write(bytes: Buffer): Promise<boolean> {
    if (this.#over || this.#socket.destroyed) return false
    if (bytes.length === 0) return true
    this.#counters.bytes_to_client += bytes.length
    return new Promise<boolean>((resolve) => {
      const closed = (): void => resolve(false)
      this.#socket.once("close", closed)
      this.#socket.write(bytes, (error) => {
        this.#socket.off("close", closed)
        resolve(error == null)
      })
    })
  }

  end(by: EndBy): void {
    if (this.#over) return
    this.#over = true
    if (by === "rst") this.#socket.resetAndDestroy()
    else {
      this.#socket.end()
      this.queue.drop()
    }
  }

  freeze(): void {
    this.#over = true
    this.queue.freeze()
  }
}
