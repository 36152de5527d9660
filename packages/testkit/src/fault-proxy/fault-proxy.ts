/**
 * A TCP proxy for HTTP/1.1 on 127.0.0.1 that breaks what it is told to break.
 *
 * It owns its listening socket, the connections through it and the counts of what went where. It never retries, never
 * reuses a connection to the target and never normalises bytes, so that what the target counts is what was sent.
 *
 * 1. Faults come from a script of rules, in order, then from one default; both may be replaced while it runs.
 * 2. Every request has an entry in the record, whatever became of it.
 * 3. `close` ends every socket, held request and delay; nothing is delivered after it.
 */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net"
import type { Target } from "./delivery.ts"
import { PASS, type Fault, type FaultRule } from "./fault.ts"
import { HeldRequests, type HeldRequest, type LandedRequest } from "./held-requests.ts"
import { serveConnection } from "./proxied-connection.ts"
import { zeroCounters, type ProxyCounters, type ProxyRecordEntry } from "./proxy-record.ts"
import { RuleScript } from "./rule-script.ts"

export interface FaultProxyOptions {
  /** Where requests go: `http://127.0.0.1:4242`. */
  readonly target: string
  readonly script?: readonly FaultRule[]
  /** What applies when no rule does. Default: pass untouched. */
  readonly otherwise?: Fault | readonly Fault[]
}

export class FaultProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #counters = zeroCounters()
  readonly #record: ProxyRecordEntry[] = []
  readonly #held = new HeldRequests(() => this.#changed())
  readonly #closing = new AbortController()
  readonly #waiting = new Set<() => void>()
  #port = 0
  #target: Target
  #script: RuleScript

  private constructor(options: FaultProxyOptions) {
    this.#target = parseTarget(options.target)
    this.#script = new RuleScript(options.script ?? [], options.otherwise ?? PASS)
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) =>
      this.#accept(socket),
    )
  }

  /** Starts a proxy on a free port of 127.0.0.1. */
  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options)
    await proxy.#listen(0)
    return proxy
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Replaces the script, and the default when one is given (else everything else passes). */
  script(rules: readonly FaultRule[], otherwise: Fault | readonly Fault[] = PASS): void {
    this.#script = new RuleScript(rules, otherwise)
  }

  /** Sends later requests elsewhere: a provider that came back on another port. */
  retarget(target: string): void {
    this.#target = parseTarget(target)
  }

  /** A copy of the counts so far. */
  counters(): ProxyCounters {
    return { ...this.#counters }
  }

  /** A copy of what was done so far, one entry for each request. */
  record(): readonly ProxyRecordEntry[] {
    return this.#record.map((entry) => ({ ...entry, faults: [...entry.faults] }))
  }

  held(): readonly HeldRequest[] {
    return this.#held.list()
  }

  /** Delivers a held request, the oldest unless named, and resolves once the target has answered it. */
  async release(id?: string): Promise<LandedRequest> {
    return this.#held.release(id)
  }

  /** Resolves when the condition holds; it is asked again whenever the proxy has something new to tell. */
  async until(condition: (proxy: FaultProxy) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.#closing.signal.aborted) throw new Error("the proxy was closed before the awaited condition held")
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Stops accepting: new connections are refused by the kernel, open ones go on. */
  async stopListening(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      // close() waits for every connection; they are this proxy's own, so their end is not waited for.
      if (!this.#server.listening) resolve()
    })
  }

  /** Accepts again, on the same port. */
  async listenAgain(): Promise<void> {
    await this.#listen(this.#port)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#held.dropAll()
    if (this.#server.listening) await this.stopListening()
    for (const socket of this.#sockets) socket.destroy()
    this.#changed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #listen(port: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject)
      this.#server.listen({ port, host: "127.0.0.1" }, () => {
        this.#server.off("error", reject)
        this.#port = (this.#server.address() as AddressInfo).port
        resolve()
      })
    })
  }

  #accept(socket: Socket): void {
    this.#track(socket)
    this.#counters.connections += 1
    void serveConnection(socket, this.#counters.connections, {
      counters: this.#counters,
      held: this.#held,
      closing: this.#closing.signal,
      script: () => this.#script,
      target: () => this.#target,
      record: (entry) => {
        this.#record.push(entry)
        this.#changed()
      },
      changed: () => this.#changed(),
      track: (tracked) => this.#track(tracked),
    })
    this.#changed()
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on("close", () => this.#sockets.delete(socket))
  }

  #changed(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}

function parseTarget(target: string): Target {
  const url = new URL(target)
  if (url.protocol !== "http:") throw new Error(`the proxy speaks http only, got ${url.protocol}`)
  return { host: url.hostname, port: Number(url.port === "" ? 80 : url.port) }
}
