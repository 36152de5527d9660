/** The HTTP front of a provider process: reads bodies, sorts control from provider requests, listens on 127.0.0.1. */
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { controlAnswer } from "./control-endpoints.ts"
import type { ProviderServer } from "./provider-server.ts"
import type { CommonSettings } from "./provider-settings.ts"

/** Larger than any request these providers take; a body over it is a mistake of the test. */
const BODY_BYTES_MAX = 4 * 1024 * 1024

export async function listen<Settings extends CommonSettings>(
  provider: ProviderServer<Settings>,
  port: number,
): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((message, response) => {
    void (async () => {
      const body = await readBody(message)
      if (body === null) return
      const url = new URL(message.url ?? "/", "http://provider.invalid")
      const control = await controlAnswer(provider, { method: message.method ?? "GET", url, body })
      if (control === null) return provider.serve(message, response, body)
      response.writeHead(control.status, control.headers)
      response.end(control.body)
    })()
  })
  // An idle connection that the provider closed by itself would be a fault that no test asked for.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen({ port, host: "127.0.0.1" }, resolve)
  })
  return { port: (server.address() as AddressInfo).port, server }
}

/** The whole body, or null when the client went away inside it: such a request was never received. */
async function readBody(message: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of message as AsyncIterable<Buffer>) {
      size += part.length
      if (size > BODY_BYTES_MAX) return null
      parts.push(part)
    }
  } catch {
    return null
  }
  return message.complete ? Buffer.concat(parts).toString("utf8") : null
}
