/**
 * One call, checked and named, before the journal is asked anything (protocol §2).
 *
 * Owns: which options exist, the parameters as given, the names of the action (identity, key, run), its intent.
 * Must not: reserve or write. What is refused here reserves nothing.
 *
 * CR1. Options never come from a model; unknown ones are refused, never ignored (`unsupported_option`).
 * CR2. Parameters are kept as given; the parsed form is what tools see.
 */
import {
  canonicalJson,
  DEFAULTS,
  deriveKey,
  fingerprint,
  intentDigest,
  InvokeError,
  NotJsonError,
  runKey,
  scopedKey,
  type Json,
  type KeyKind,
} from "@invokejs/protocol"
import type { EngineContext } from "../engine-context.ts"
import type { CompiledTool, Identity } from "../tool/compiled-tool.ts"
import { nearName } from "../tool/near-name.ts"
import type { CallOptions } from "./call-options.ts"
import { checkCallOptions } from "./call-options.ts"

export interface CallRequest {
  readonly tool: CompiledTool
  readonly params: Json
  readonly parsed: unknown
  readonly fingerprint: string
  /** Every name of the chain, the one that names a new chain first. */
  readonly keys: readonly string[]
  readonly key_kind: KeyKind
  readonly identity: Identity | null
  readonly intent: { readonly [field: string]: string } | null
  readonly intent_digest: string | null
  readonly resource: string | null
  readonly tenant: string
  readonly agent_id: string
  readonly run_id: string | null
  readonly turn_id: string | null
  /** Each identical call that runs side by side with this one in its turn is an action of its own (ID-10). */
  readonly each: boolean
  readonly group_id: string | null
  readonly labels: { readonly [name: string]: string }
  readonly wait_ms: number
  readonly signal: AbortSignal | undefined
  readonly retry_on_repeat: boolean
}

export async function prepareCall(context: EngineContext, options: CallOptions): Promise<CallRequest> {
  const checked = checkCallOptions(options)
  const tool = context.tools.named(checked.tool)
  if (!tool) throw unknownTool(context, checked.tool)
  const params = jsonParams(checked.params)
  const parsed = await parseParams(tool, params)
  return nameCall(context, tool, params, parsed, checked)
}

/** The same for parameters that are stored already (verbs, repeats): they are parsed with today's schema again. */
export async function nameCall(
  context: EngineContext,
  tool: CompiledTool,
  params: Json,
  parsed: unknown,
  checked: ReturnType<typeof checkCallOptions>,
): Promise<CallRequest> {
  const { sha256 } = context
  const identities = tool.identify(parsed)
  const intent = tool.intent(parsed)
  const names = keysOf(context, tool, params, identities, checked)
  return {
    tool,
    params,
    parsed,
    fingerprint: fingerprint(params, sha256),
    ...names,
    identity: identities[0] ?? null,
    intent,
    intent_digest: intent === null ? null : intentDigest({ namespace: tool.namespace, fields: intent }, sha256),
    resource: tool.resource(parsed),
    tenant: checked.tenant,
    agent_id: checked.agentId,
    run_id: checked.runId,
    turn_id: checked.turnId,
    each: checked.each,
    group_id: checked.groupId,
    labels: checked.labels,
    wait_ms: checked.wait_ms ?? tool.wait_ms ?? DEFAULTS.wait_ms,
    signal: checked.signal,
    retry_on_repeat: tool.retry_on_repeat && checked.retryOnRepeat,
  }
}

function keysOf(
  context: EngineContext,
  tool: CompiledTool,
  params: Json,
  identities: readonly Identity[],
  checked: ReturnType<typeof checkCallOptions>,
): { keys: readonly string[]; key_kind: KeyKind } {
  const { sha256 } = context
  if (checked.each && (identities.length > 0 || checked.idempotencyKey !== null)) {
    throw new InvokeError("invalid_request", {
      happened: 'identicalCalls: "each" is for calls that only a run names; this one has an identity or a key',
      detail: { field: "identicalCalls" },
    })
  }
  const explicit = checked.idempotencyKey === null ? [] : [explicitKey(checked.idempotencyKey, checked)]
  const derived = identities.map(({ fields, version }) =>
    deriveKey(
      {
        namespace: tool.namespace,
        identity_version: version,
        fields,
        ...(checked.repeatOf === null ? {} : { repeat_of: checked.repeatOf }),
      },
      sha256,
    ),
  )
  if (derived.length > 0) return { keys: [...derived, ...explicit], key_kind: "derived" }
  if (explicit.length > 0) return { keys: explicit, key_kind: "explicit" }
  if (checked.runId !== null) {
    const key = runKey({ run_id: checked.runId, tool: tool.namespace, params }, sha256)
    return { keys: [key], key_kind: "run" }
  }
  if (tool.safety === "read-only") return { keys: [`d:read:${sha256(canonicalJson(params))}`], key_kind: "derived" }
  throw new InvokeError("identity_required", {
    happened: `the call of ${tool.name} has no identity, so a repeat of it could not be told from a new action`,
    fix: `Declare it on the tool: identity: (p) => ({ invoice: id(p.invoice_id) }); or name the action in the call: invoke.call({ tool: "${tool.name}", params, idempotencyKey: "invoice:84721" }).`,
    detail: { tool: tool.name },
  })
}

/** A key chosen under an agent's rights belongs to its run, and says nothing without one (R21). */
function explicitKey(key: string, { agentScoped, runId }: ReturnType<typeof checkCallOptions>): string {
  if (!agentScoped) return key
  if (runId !== null) return scopedKey(runId, key)
  throw new InvokeError("identity_required", {
    happened: "a key that an agent chose is good inside its run only, and the call names no run",
    fix: "Pass runId.",
  })
}

export function jsonParams(value: unknown): Json {
  try {
    const text = canonicalJson(value)
    if (Buffer.byteLength(text) > DEFAULTS.params_bytes_max) {
      throw new InvokeError("payload_too_large", {
        happened: `the parameters are larger than ${DEFAULTS.params_bytes_max} bytes`,
        detail: { bytes_max: DEFAULTS.params_bytes_max },
      })
    }
    return JSON.parse(text) as Json
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    throw new InvokeError("invalid_params", { happened: `the parameters are not JSON: ${error.message}`, cause: error })
  }
}

export async function parseParams(tool: CompiledTool, params: Json): Promise<unknown> {
  const result = await tool.parse(params)
  if (result.ok) return result.value
  throw new InvokeError("invalid_params", {
    happened: `${tool.name} does not take these parameters: ${result.issues.map((issue) => `${issue.path}: ${issue.message}`).join("; ")}`,
    detail: { tool: tool.name, issues: result.issues.map((issue) => ({ path: issue.path, message: issue.message })) },
  })
}

function unknownTool(context: EngineContext, name: string): InvokeError {
  const known = context.tools.names()
  const near = nearName(name, known)
  return new InvokeError("unknown_tool", {
    happened: `there is no tool ${JSON.stringify(name)}${known.length > 0 ? `; known: ${known.slice(0, 20).join(", ")}` : ""}`,
    ...(near === null ? {} : { fix: `Did you mean ${JSON.stringify(near)}?` }),
    detail: { tool: name, near },
  })
}
