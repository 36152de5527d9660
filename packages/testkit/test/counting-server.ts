// The target behind the proxy in its tests: a real HTTP server that counts what reached it whole and what did not.
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as after } from "node:timers/promises"
import { onTestFinished } from "vitest"

export interface CountingServer {
  readonly url: string
  /** Requests that arrived to their last byte: the effects. */
  readonly whole: readonly { readonly method: string; readonly path: string; readonly body: string }[]
  /** Requests that broke off inside. */
  readonly broken: readonly string[]
  /** Arrivals and ends of answers in their order. */
  readonly log: readonly string[]
  /** Resolves once the condition holds, asked again at every arrival. */
  until(condition: (server: CountingServer) => boolean): Promise<void>
}

export async function countingServer(answerBody = `{"done":true}`): Promise<CountingServer> {
  const whole: { method: string; path: string; body: string }[] = []
  const broken: string[] = []
  const log: string[] = []
  let waiting: (() => void)[] = []
  const arrived = (): void => {
    for (const resolve of waiting) resolve()
    waiting = []
  }
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readWhole(request)
      const path = request.url ?? ""
      if (body === null) broken.push(path)
      else whole.push({ method: request.method ?? "", path, body })
      log.push(`arrived ${path}`)
      arrived()
      const headers = { "content-type": "application/json", "x-number": String(whole.length) }
      if (path.startsWith("/sized")) {
        response.writeHead(201, { ...headers, "content-length": answerBody.length }).end(answerBody)
      } else {
        // Written in two pieces, so that the answer is chunked as most real ones are.
        response.writeHead(201, headers).write(answerBody.slice(0, 5))
        // Whoever does not wait for the rest of this answer is seen in the order of the log.
        if (path.startsWith("/slow")) await after(50)
        log.push(`answered ${path}`)
        response.end(answerBody.slice(5))
      }
    })()
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1" }, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const counting: CountingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    whole,
    broken,
    log,
    async until(condition) {
      while (!condition(counting)) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
  return counting
}

async function readWhole(request: IncomingMessage): Promise<string | null> {
  let body = ""
  try {
    for await (const part of request) body += String(part)
  } catch {
    return null
  }
  return request.complete ? body : null
}
