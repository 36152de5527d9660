/**
 * The faults of the proxy, as data: a script can be written in a test, sent to the proxy program as JSON, and kept in
 * a report. Request-side faults decide what of a request reaches the target; answer-side faults decide what of the
 * target's answer reaches the client. A rule may name one of each.
 */

/**
 * How a TCP connection is ended: an orderly FIN, or a reset. A reset that arrives together with the last bytes is seen
 * by some clients, Node's among them, as an orderly end.
 */
export type EndBy = "fin" | "rst"

/** `request` runs from the client to the target, `answer` from the target to the client. */
export type Direction = "request" | "answer"

/** Where a stream of bytes is cut. Bytes are counted from the first byte of the message's head. */
export type CutPlace =
  | { readonly after_bytes: number }
  | { readonly after_marker: string }
  | { readonly before_marker: string }
  | { readonly after_message: true }

export type RequestFault =
  /** The connection is accepted and closed; nothing is delivered. */
  | { readonly kind: "refuse"; readonly by: EndBy }
  /** The request reaches the target up to `at`; then both connections end. `after_message` leaves the target's alone. */
  | { readonly kind: "cut"; readonly direction: "request"; readonly at: CutPlace; readonly by: EndBy }
  /** The request is delivered `ms` later, whether or not the client is still there. */
  | { readonly kind: "delay"; readonly direction: "request"; readonly ms: number }
  /** The request is delivered twice, one after the other or at the same time: the intermediary that repeats. */
  | { readonly kind: "duplicate_request"; readonly answer?: "first" | "last"; readonly overlap?: boolean }
  /** The proxy stops reading and writing and keeps the socket; nothing is delivered. */
  | { readonly kind: "half_open" }
  /** The request is kept until `release` is called, also after the client has gone: the late landing. */
  | { readonly kind: "hold"; readonly client?: "wait" | EndBy }
  /** The proxy answers by itself; nothing is delivered. */
  | ({ readonly kind: "answer_instead" } & ScriptedAnswer)

export type AnswerFault =
  | { readonly kind: "cut"; readonly direction: "answer"; readonly at: CutPlace; readonly by: EndBy }
  | { readonly kind: "delay"; readonly direction: "answer"; readonly ms: number }
  /** The target answered in full; the client hears nothing of it. `half_open` also stops reading. */
  | { readonly kind: "drop_answer"; readonly then: EndBy | "keep_open" | "half_open" }
  /** The head keeps its advertised length; only `keep_bytes` of the body follow. */
  | { readonly kind: "truncate_answer"; readonly keep_bytes: number; readonly then: EndBy | "keep_open" }
  /** The status line, or every byte of the body, is overwritten. */
  | { readonly kind: "garble_answer"; readonly part: "status_line" | "body" }
  /** The target answered in full; the client gets this instead: the gateway that speaks after delivery. */
  | ({ readonly kind: "replace_answer" } & ScriptedAnswer)
  /** The whole answer is written twice to the same connection. */
  | { readonly kind: "answer_twice" }

export interface ScriptedAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export type Fault = { readonly kind: "pass" } | RequestFault | AnswerFault

export interface FaultMatch {
  /** The n-th connection accepted by the proxy, counted from 1. */
  readonly connection?: number
  readonly method?: string
  /** The path without its query; a trailing `*` matches every path that begins so. */
  readonly path?: string
  /** Bytes that occur in the message of `direction`, head included. The message is read whole before the decision. */
  readonly marker?: string
  /** Which message `marker` is looked for in. `answer` allows only answer-side faults. Default `request`. */
  readonly direction?: Direction
}

export interface FaultRule {
  readonly match?: FaultMatch
  /** One fault, or one of each side. */
  readonly fault: Fault | readonly Fault[]
  /** How many requests this rule is spent on. Default 1. */
  readonly times?: number | "always"
}

/** What will happen to one request and to its answer. */
export interface ChosenFaults {
  readonly request: RequestFault | { readonly kind: "pass" }
  readonly answer: AnswerFault | { readonly kind: "pass" }
}

export const PASS = { kind: "pass" } as const

function isRequestFault(fault: Fault): fault is RequestFault {
  switch (fault.kind) {
    case "refuse":
    case "duplicate_request":
    case "half_open":
    case "hold":
    case "answer_instead":
      return true
    case "cut":
    case "delay":
      return fault.direction === "request"
    default:
      return false
  }
}

/** Splits the faults of a rule by side; two of one side have no meaning and are refused. */
export function chosenFaults(faults: Fault | readonly Fault[]): ChosenFaults {
  const all = (isList(faults) ? faults : [faults]).filter((fault) => fault.kind !== "pass")
  const request = all.filter(isRequestFault)
  const answer = all.filter((fault): fault is AnswerFault => !isRequestFault(fault))
  if (request.length > 1 || answer.length > 1) {
    throw new Error(`a rule may name one fault of each side, got ${all.map((fault) => fault.kind).join(", ")}`)
  }
  return { request: request[0] ?? PASS, answer: answer[0] ?? PASS }
}

function isList(faults: Fault | readonly Fault[]): faults is readonly Fault[] {
  return Array.isArray(faults)
}
