/** What others do at the provider: the tool's own function, run without Invoke, under ids and keys of nobody's operation. */
import { createTransport, sha256, type AnyTool, type AttemptContext } from "@invokejs/engine"
import type { Contract, Json, Operation } from "@invokejs/protocol"
import type { CompressedClock } from "./compressed-clock.ts"
import type { Definition } from "./wrap-tool.ts"

export interface StrangersCall {
  readonly params: Json
  readonly operation_id: string
  readonly provider_key: string
  readonly attempt?: number
}

export interface StrangersTool {
  readonly tool: AnyTool
  readonly clock: CompressedClock
  readonly contract: Contract
}

const FOR_EVER_MS = Number.MAX_SAFE_INTEGER
const RESPONSE_BYTES_MAX = 8 * 1024 * 1024

/** Whether the function returned; what it threw is not looked at. */
export async function runStranger({ tool, clock, contract }: StrangersTool, call: StrangersCall): Promise<boolean> {
  const transport = createTransport({ clock })
  const { key, effect } = contract
  const header = key?.sent_as.startsWith("header:") === true ? key.sent_as.slice("header:".length) : null
  const attempt = transport.attempt({
    window: {
      anchor: { wall_ms: clock.wall(), monotonic_ms: clock.monotonic() },
      head_budget_ms: FOR_EVER_MS,
      body_budget_ms: FOR_EVER_MS,
    },
    ...(effect === undefined ? {} : { effect }),
    ...(header === null ? {} : { provider_key: { header, value: call.provider_key } }),
    response_bytes_max: RESPONSE_BYTES_MAX,
    attempt_timeout_ms: FOR_EVER_MS,
  })
  const context: AttemptContext = {
    providerKey: call.provider_key,
    operationId: call.operation_id,
    attempt: call.attempt ?? 1,
    signal: new AbortController().signal,
    fetch: attempt.fetch,
  }
  try {
    const parsed = await tool.input["~standard"].validate(call.params)
    if (parsed.issues) return false
    await (tool["~definition"] as Definition).run(parsed.value, context)
    return true
  } catch {
    return false
  } finally {
    await transport.close()
  }
}

/** One look of the tool's own probe, outside every process: whether it finds something that is this operation's. */
export async function lookOnce(
  { tool, clock }: Omit<StrangersTool, "contract">,
  params: Json,
  operation: Operation,
): Promise<boolean> {
  const { look } = tool["~definition"] as Definition
  if (look === undefined) return false
  const transport = createTransport({ clock })
  const anchor = { wall_ms: clock.wall(), monotonic_ms: clock.monotonic() }
  const reads = transport.attempt({
    window: { anchor, head_budget_ms: Number.NEGATIVE_INFINITY, body_budget_ms: Number.NEGATIVE_INFINITY },
    response_bytes_max: RESPONSE_BYTES_MAX,
    attempt_timeout_ms: FOR_EVER_MS,
  })
  const keys = [...new Set(operation.attempts.map((attempt) => attempt.provider_key))]
  const first = operation.attempts[0]?.dispatched_at ?? clock.wall()
  try {
    const parsed = await tool.input["~standard"].validate(params)
    if (parsed.issues) return false
    const word = (await look(parsed.value, {
      operationId: operation.operation_id,
      providerKeys: keys,
      firstDispatchedAt: dateOf(first),
      signal: new AbortController().signal,
      fetch: reads.fetch,
    })) as { readonly kind?: unknown; readonly objects?: readonly { readonly [name: string]: unknown }[] }
    if (word.kind !== "found") return false
    if (operation.contract.lookup?.correlates !== "operation") return true
    return (word.objects ?? []).some(
      (one) => one["operationId"] === operation.operation_id || keys.some((key) => key === one["providerKey"]),
    )
  } catch {
    return false
  } finally {
    await transport.close()
  }
}

function dateOf(ms: number): Date {
  return new Date(ms)
}

/** In the form that the provider takes keys in. */
export function strangersKey(contract: Contract, name: string): string {
  const digest = sha256(`stranger:${name}`)
  if (contract.key?.alphabet === "uuid4") {
    return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  }
  return digest.slice(0, Math.min(32, contract.key?.max_length ?? 32))
}

export function strangersId(name: string): string {
  const digest = sha256(`operation:${name}`)
  return `01900000-0000-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`
}
