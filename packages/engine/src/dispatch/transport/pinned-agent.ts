import type { LookupFunction } from "node:net"

import type { Dispatcher } from "undici"
// The package's main file replaces the process's global dispatcher when it is loaded, and with it the HTTP client under
// the application's own fetch. The one class that is needed is loaded by its file; the version is pinned exactly.
import Agent from "undici/lib/dispatcher/agent.js"

import { CHUNK_BYTES } from "./gated-body.ts"

/**
 * Invoke's own HTTP client: HTTP/1.1 only, one request at a time on a connection, no retries, no redirects, never the
 * global dispatcher.
 *
 * The client re-sends pipelined requests when a connection dies, so pipelining stays off; HTTP/2 stays off until its
 * stages are proved.
 */
export interface AgentOptions {
  readonly lookup?: LookupFunction | undefined
  readonly tls?: { readonly ca?: string | Buffer; readonly cert?: string | Buffer; readonly key?: string | Buffer }
  /** Connections to one origin; more requests wait, and the send window bounds the wait. Default `CONNECTIONS_MAX`. */
  readonly connections_max?: number
  readonly connect_timeout_ms?: number
}

/** Enough for a busy worker; few enough that a burst does not look like an attack to the provider. */
const CONNECTIONS_MAX = 64

/** A handshake that takes longer is taken as unreachable, which is proof that nothing left. */
const CONNECT_TIMEOUT_MS = 10_000

/**
 * The write buffer that a chunk must fill so that the next one waits for the kernel (gated-body.ts). The types omit the
 * option.
 */
const WRITE_BUFFER = { highWaterMark: CHUNK_BYTES }

export function pinnedAgent({ lookup, tls, connections_max, connect_timeout_ms }: AgentOptions): Dispatcher {
  return new Agent({
    connections: connections_max ?? CONNECTIONS_MAX,
    pipelining: 1,
    allowH2: false,
    // The attempt's own timer bounds these; a second clock inside the client would only add another kind of error.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      ...tls,
      ...(lookup ? { lookup } : {}),
      timeout: connect_timeout_ms ?? CONNECT_TIMEOUT_MS,

      ...WRITE_BUFFER,
    },
  })
}
