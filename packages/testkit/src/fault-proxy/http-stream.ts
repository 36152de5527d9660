/** One message as it passes: its head, then its body, raw; read piece by piece or kept whole, but only once. */
import { MessageBody, type Framing, type MessageHead } from "./http-message.ts"
import type { ByteQueue } from "./byte-queue.ts"

export class HttpStream {
  readonly head: MessageHead
  readonly framing: Framing
  readonly #body: MessageBody
  #whole: Buffer | null = null

  constructor(head: MessageHead, framing: Framing, queue: ByteQueue) {
    this.head = head
    this.framing = framing
    this.#body = new MessageBody(queue, framing)
  }

  /** False while bytes are missing, and for good when the sender went away in the middle. */
  get complete(): boolean {
    return this.#body.complete
  }

  /** Head and body in one buffer; what there was of it when the sender went away in the middle. */
  async whole(): Promise<Buffer> {
    this.#whole ??= Buffer.concat([this.head.raw, await this.#body.rest()])
    return this.#whole
  }

  async body(): Promise<Buffer> {
    return (await this.whole()).subarray(this.head.raw.length)
  }

  async *pieces(): AsyncGenerator<Buffer> {
    if (this.#whole !== null) {
      yield this.#whole
      return
    }
    yield this.head.raw
    for (let part = await this.#body.next(); part !== null; part = await this.#body.next()) yield part
  }
}
