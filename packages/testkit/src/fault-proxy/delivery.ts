/**
 * One delivery of one request to the target, on a connection of its own: a reused connection that the target closes
 * at that moment would be a fault nobody asked for.
 */
import { connect, type Socket } from "node:net"
import { ByteQueue } from "./byte-queue.ts"
import type { EndBy } from "./fault.ts"
import { answerFraming, answerStatus, readHead } from "./http-message.ts"
import { HttpStream } from "./http-stream.ts"
import type { ProxyCounters } from "./proxy-record.ts"

export interface Target {
  readonly host: string
  readonly port: number
}

export class Delivery {
  readonly #socket: Socket
  readonly #queue: ByteQueue
  readonly #counters: ProxyCounters
  #failed = false
  #answer: Promise<HttpStream | null> | null = null

  constructor(target: Target, counters: ProxyCounters, track: (socket: Socket) => void) {
    this.#counters = counters
    this.#socket = connect({ host: target.host, port: target.port, allowHalfOpen: true, noDelay: true })
    track(this.#socket)
    this.#socket.on("error", () => {
      this.#failed = true
    })
    this.#queue = new ByteQueue(this.#socket, (count) => {
      counters.bytes_from_target += count
    })
  }

  /** How the target ended without a whole answer: by reset (or it was never reached), or by FIN. */
  get endedBy(): EndBy {
    return this.#failed ? "rst" : "fin"
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#socket.destroyed || bytes.length === 0) return
    this.#counters.bytes_to_target += bytes.length
    await new Promise<void>((resolve) => {
      this.#socket.once("close", resolve)
      this.#socket.write(bytes, () => {
        this.#socket.off("close", resolve)
        resolve()
      })
    })
  }

  end(by: EndBy): void {
    if (by === "rst") this.#socket.resetAndDestroy()
    else {
      this.#socket.end()
      this.#queue.drop()
    }
  }

  /** The target's final answer, or null when it ended without one. Interim 1xx answers are not passed on. */
  answer(method: string): Promise<HttpStream | null> {
    this.#answer ??= this.#readAnswer(method)
    return this.#answer
  }

  async #readAnswer(method: string): Promise<HttpStream | null> {
    for (;;) {
      const head = await readHead(this.#queue)
      if (head === null) return null
      const status = answerStatus(head)
      if (status >= 100 && status < 200 && status !== 101) continue
      return new HttpStream(head, answerFraming(head, method), this.#queue)
    }
  }
}
