/** What the proxy saw and did, for the message of a failing test. Counted where it happens, never derived. */

export interface ProxyCounters {
  connections: number
  requests: number
  /** Requests that reached the target wholly; one that was doubled counts twice. */
  deliveries: number
  bytes_from_client: number
  bytes_to_target: number
  bytes_from_target: number
  bytes_to_client: number
}

export interface ProxyRecordEntry {
  readonly connection: number
  /** Counted from 1 over all connections; 0 when the connection ended before a request was read. */
  readonly request: number
  readonly method: string
  readonly path: string
  /** The kinds applied, in order; empty when the request passed untouched. */
  faults: string[]
  /** How often the whole request reached the target. */
  deliveries: number
  target_status: number | null
  /** What was written to the client, whether or not it still read. `other` is an answer the target did not write. */
  answered: "nothing" | "part" | "whole" | "twice" | "other"
  /** The client had gone before the exchange was over. */
  client_gone: boolean
  finished: boolean
  /** What the proxy itself could not do: a message over its size limit. */
  trouble: string | null
}

export function zeroCounters(): ProxyCounters {
  return {
    connections: 0,
    requests: 0,
    deliveries: 0,
    bytes_from_client: 0,
    bytes_to_target: 0,
    bytes_from_target: 0,
    bytes_to_client: 0,
  }
}
