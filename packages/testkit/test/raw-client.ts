// A client that sees every byte and how the connection ended, which no HTTP client shows.
import { connect } from "node:net"
import { onTestFinished } from "vitest"

export interface RawClient {
  readonly received: string
  /** How the proxy's end went, or null while it is there. */
  readonly ended: "fin" | "rst" | null
  send(text: string): void
  until(condition: (client: RawClient) => boolean): Promise<void>
  leave(): void
}

export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  onTestFinished(() => {
    socket.destroy()
  })
  let received = ""
  let ended: "fin" | "rst" | null = null
  let waiting: (() => void)[] = []
  const wake = (): void => {
    for (const resolve of waiting) resolve()
    waiting = []
  }
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1")
    wake()
  })
  socket.on("end", () => {
    ended ??= "fin"
    wake()
  })
  socket.on("error", (error: NodeJS.ErrnoException) => {
    ended = error.code === "ECONNRESET" || error.code === "EPIPE" ? "rst" : ended
    wake()
  })
  // A reset can overtake the news that the connection was made.
  await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()))
  const client: RawClient = {
    get received() {
      return received
    },
    get ended() {
      return ended
    },
    send: (text) => void socket.write(text),
    async until(condition) {
      while (!condition(client)) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    leave: () => socket.destroy(),
  }
  return client
}

export function rawPost(path: string, body: string, headers = ""): string {
  return `POST ${path} HTTP/1.1\r\nhost: target\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
