// What the transport's tests share: a provider made of raw sockets that counts requests and effects itself, and a clock
// whose two readings can be moved apart.
import { once } from "node:events"
import { createServer, type AddressInfo, type LookupFunction, type Server, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"

import { onTestFinished } from "vitest"

import {
  type AttemptTransport,
  type AttemptTransportOptions,
  createTransport,
  type Transport,
  type TransportOptions,
} from "@invokejs/engine"
import { CERTIFICATE, PRIVATE_KEY } from "./transport-certificate.ts"

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Answering {
  readonly seen: Seen
  readonly socket: Socket
  /** The provider did what it was asked. */
  readonly execute: () => void
  /** Cuts the connection: by a reset, under TLS without a closing word. */
  readonly reset: () => void
}

export interface Outside {
  readonly url: string
  readonly port: number
  /** Complete requests, in the order they arrived. */
  readonly requests: Seen[]
  readonly sockets: Set<Socket>
  effects: number
  connections: number
  bytes: number
}

export interface OutsideOptions {
  /** Called with each complete request. */
  readonly answer?: (answering: Answering) => void
  readonly connection?: (socket: Socket) => void
  readonly data?: (chunk: Buffer, socket: Socket) => void
  readonly tls?: boolean
}

export async function startOutside(options: OutsideOptions = {}): Promise<Outside> {
  const { answer = executed(({ socket }) => reply(socket)), connection, data, tls = false } = options
  const outside: Outside = { url: "", port: 0, requests: [], sockets: new Set(), effects: 0, connections: 0, bytes: 0 }
  const accept = (socket: Socket): void => {
    outside.connections += 1
    outside.sockets.add(socket)
    let chunks: Buffer[] = []
    let size = 0
    let needed = 0
    socket.on("error", () => socket.destroy())
    socket.on("close", () => outside.sockets.delete(socket))
    socket.on("data", (chunk) => {
      outside.bytes += chunk.byteLength
      data?.(chunk, socket)
      chunks.push(chunk)
      size += chunk.byteLength
      while (size > 0 && size >= needed) {
        const received = Buffer.concat(chunks)
        const parsed = parse(received)
        chunks = [parsed.rest]
        size = parsed.rest.byteLength
        needed = parsed.seen ? 0 : Math.max(parsed.needed, size + 1)
        if (!parsed.seen) return
        outside.requests.push(parsed.seen)
        answer({
          seen: parsed.seen,
          socket,
          execute: () => (outside.effects += 1),
          reset: () => (tls ? socket.destroy() : socket.resetAndDestroy()),
        })
      }
    })
    connection?.(socket)
  }
  const server: Server = tls ? createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, accept) : createServer(accept)
  server.on("tlsClientError", () => {})
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.close()
    for (const socket of outside.sockets) socket.destroy()
  })
  return Object.assign(outside, { port, url: `${tls ? "https" : "http"}://127.0.0.1:${port}` })
}

/** The first request in the bytes; without one, how many bytes it needs. */
function parse(received: Buffer): { seen: Seen | null; rest: Buffer; needed: number } {
  const end = received.indexOf("\r\n\r\n")
  if (end === -1) return { seen: null, rest: received, needed: 0 }
  const [line = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n")
  const [method = "", path = ""] = line.split(" ")
  const headers = Object.fromEntries(
    lines.map((text) => [text.slice(0, text.indexOf(":")).toLowerCase(), text.slice(text.indexOf(":") + 1).trim()]),
  )
  const needed = end + 4 + Number(headers["content-length"] ?? 0)
  if (received.byteLength < needed) return { seen: null, rest: received, needed }
  const body = received.subarray(end + 4, needed)
  return { seen: { method, path, headers, body }, rest: received.subarray(needed), needed }
}

/** Does what it was asked, then this. */
export function executed(then: (answering: Answering) => void = () => {}): (answering: Answering) => void {
  return (answering) => {
    answering.execute()
    then(answering)
  }
}

/** A complete HTTP/1.1 answer. */
export function reply(socket: Socket, status = 200, body = "ok", headers: Record<string, string> = {}): void {
  const lines = Object.entries({ "content-length": String(Buffer.byteLength(body)), ...headers })
  const head = [`HTTP/1.1 ${status} Said`, ...lines.map(([name, value]) => `${name}: ${value}`)].join("\r\n")
  socket.write(`${head}\r\n\r\n${body}`)
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** Real time, with each reading movable on its own. Timers are real; `pass` also runs those that it makes due. */
export class MovableClock {
  wall_offset_ms = 0
  monotonic_offset_ms = 0
  readonly #timers = new Set<{ due_ms: number; run: () => void }>()

  wall(): number {
    return performance.timeOrigin + performance.now() + this.wall_offset_ms
  }

  monotonic(): number {
    return performance.now() + this.monotonic_offset_ms
  }

  after(ms: number, fn: () => void): () => void {
    const timer = setTimeout(() => entry.run(), ms)
    timer.unref()
    const cancel = (): void => {
      clearTimeout(timer)
      this.#timers.delete(entry)
    }
    const run = (): void => {
      cancel()
      fn()
    }
    const entry = { due_ms: performance.now() + this.monotonic_offset_ms + ms, run }
    this.#timers.add(entry)
    return cancel
  }

  /** Both clocks, as time really passes. */
  pass(ms: number): void {
    this.wall_offset_ms += ms
    this.monotonic_offset_ms += ms
    for (const entry of [...this.#timers])
      if (this.#timers.has(entry) && entry.due_ms <= performance.now() + this.monotonic_offset_ms) entry.run()
  }
}

export interface Bench {
  readonly clock: MovableClock
  readonly transport: Transport
  readonly attempt: (
    options?: Partial<AttemptTransportOptions> & { head_ms?: number; body_ms?: number },
  ) => AttemptTransport
}

export function bench(options: Partial<TransportOptions> = {}): Bench {
  const clock = new MovableClock()
  const transport = createTransport({ clock, tls: { ca: CERTIFICATE }, ...options })
  onTestFinished(() => transport.close())
  return {
    clock,
    transport,
    attempt: ({ head_ms = 60_000, body_ms = 90_000, ...rest } = {}) =>
      transport.attempt({
        window: {
          anchor: { wall_ms: clock.wall(), monotonic_ms: clock.monotonic() },
          head_budget_ms: head_ms,
          body_budget_ms: body_ms,
        },
        response_bytes_max: 1024 * 1024,
        attempt_timeout_ms: 30_000,
        ...rest,
      }),
  }
}

/** Waits until the condition holds; the test's own time limit turns a hang into a failure. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Answers every name with these addresses. */
export function fixedLookup(...addresses: string[]): LookupFunction {
  return (_hostname, options, callback) => {
    const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    process.nextTick(() => {
      if (options.all) callback(null, all)
      else callback(null, all[0]?.address ?? "", all[0]?.family ?? 4)
    })
  }
}

export const POST = { method: "POST", body: "charge" } as const
