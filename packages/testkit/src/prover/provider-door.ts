/**
 * The last step before a fake: an HTTP server that hands requests over, keeps what a case tells it to keep, and writes down
 * what came and what it made true.
 *
 * Owns: faults that need the case's own time. Faults of bytes are the fault proxy's.
 *
 * PD1. A request that was kept and is handed over later is handed over whether or not anybody still waits for it.
 * PD2. Effects are asked of the fake, before and after each request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { CompressedClock } from "./compressed-clock.ts"
import { bytesOf, forward, readRequest } from "./fake-http.ts"
import { isAtUrl, type Fake, type FakeAnswer, type FakeRequest } from "./fake-provider.ts"

/** Who sent it: an attempt, a look, or somebody who is not of this operation. */
export type Side = "call" | "look" | "stranger"

export interface DoorEntry {
  readonly n: number
  readonly side: Side
  /** Ms of the case. */
  readonly at: number
  readonly request: FakeRequest
  readonly fault: DoorFault["kind"] | null
  /** When the fake got it; null: never. */
  handed_at: number | null
  status: number | null
  /** The fake's answer went back. */
  answered: boolean
  /** What it made true, by the fake's own count. */
  made: number
}

export type DoorFault =
  /** Never handed over; the connection stays until it is given up. */
  | { readonly kind: "swallow" }
  /** Handed over after so much time. */
  | { readonly kind: "hold"; readonly ms: number }
  /** Handed over at once; the answer goes back after so much time. */
  | { readonly kind: "keep_answer"; readonly ms: number }
  /** Handed over; then the process that sent it dies. */
  | { readonly kind: "crash" }

/** After so long without an answer Node's own client gives a connection up, and so does this end. */
const GIVE_UP_MS = 300_000

export interface DoorOptions {
  readonly side: Side
  readonly clock: CompressedClock
  readonly log: DoorEntry[]
  /** The fake that gets the request now. */
  readonly fake: () => Fake
  readonly fault: (request: FakeRequest) => DoorFault | null
  readonly crash: () => void
  /** Tells a fake with a clock of its own what time it is. */
  readonly sync: () => Promise<void>
  /** Something moved. */
  readonly live: () => void
}

export class ProviderDoor {
  readonly #options: DoorOptions
  readonly #server: Server
  #kept = 0
  #held = 0
  #running = 0

  private constructor(options: DoorOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#serve(request, response))
    // A fake may be slower than the defaults allow, and every socket ends with the case.
    this.#server.requestTimeout = 0
    this.#server.headersTimeout = 0
  }

  static async open(options: DoorOptions): Promise<ProviderDoor> {
    const door = new ProviderDoor(options)
    await new Promise<void>((resolve) => door.#server.listen(0, "127.0.0.1", resolve))
    return door
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Requests whose senders wait for an answer that only the case's time will bring. */
  get kept(): number {
    return this.#kept
  }

  /** Requests that are still to be handed over. */
  get held(): number {
    return this.#held
  }

  /** Requests that the fake is working on. */
  get running(): number {
    return this.#running
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, side, log, live } = this.#options
    live()
    const request = await readRequest(incoming)
    if (request === null) return
    const fault = this.#options.fault(request)
    const entry: DoorEntry = {
      n: log.length + 1,
      side,
      at: clock.elapsed,
      request,
      fault: fault?.kind ?? null,
      handed_at: null,
      status: null,
      answered: false,
      made: 0,
    }
    log.push(entry)
    await this.#follow(fault, entry, response)
    live()
  }

  async #follow(fault: DoorFault | null, entry: DoorEntry, response: ServerResponse): Promise<void> {
    const { clock, crash } = this.#options
    switch (fault?.kind) {
      case undefined:
        return this.#answer(response, entry, await this.#hand(entry))
      case "swallow":
        return this.#giveUp(response)
      case "hold":
        this.#held += 1
        this.#giveUp(response)
        clock.after(fault.ms, () => {
          this.#held -= 1
          void this.#hand(entry).then((answer) => this.#answer(response, entry, answer))
        })
        return
      case "keep_answer": {
        const answer = await this.#hand(entry)
        this.#giveUp(response)
        clock.after(fault.ms, () => this.#answer(response, entry, answer))
        return
      }
      case "crash":
        await this.#hand(entry)
        crash()
        response.destroy()
    }
  }

  /** The sender waits in vain until it gives up, or we do. */
  #giveUp(response: ServerResponse): void {
    this.#kept += 1
    const stop = this.#options.clock.after(GIVE_UP_MS, () => response.destroy())
    response.on("close", () => {
      stop()
      this.#kept -= 1
      this.#options.live()
    })
  }

  async #hand(entry: DoorEntry): Promise<FakeAnswer> {
    const { clock, fake, live, sync } = this.#options
    const provider = fake()
    this.#running += 1
    try {
      await sync()
      const before = await provider.effects()
      entry.handed_at = clock.elapsed
      const answer = isAtUrl(provider)
        ? await forward(provider.url, entry.request)
        : await provider.handle(entry.request)
      entry.made = (await provider.effects()) - before
      entry.status = answer.status ?? 200
      return answer
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error)
      entry.status = 500
      return { status: 500, body: { error: `the fake failed: ${what}` } }
    } finally {
      this.#running -= 1
      live()
    }
  }

  #answer(response: ServerResponse, entry: DoorEntry, answer: FakeAnswer): void {
    if (response.destroyed) return
    const { status = 200, headers = {}, body } = answer
    const bytes = bytesOf(body)
    const json = typeof body !== "string" && !Buffer.isBuffer(body) && body !== undefined
    response.writeHead(status, {
      ...(json ? { "content-type": "application/json" } : {}),
      ...headers,
      "content-length": bytes.length,
    })
    response.end(bytes)
    entry.answered = true
    this.#options.live()
  }
}
