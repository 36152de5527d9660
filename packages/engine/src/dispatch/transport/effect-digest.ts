import { createHash } from "node:crypto"

/**
 * What an effect request said, in a form that can be journaled and compared (protocol §3, "Key protection").
 *
 * A provider key protects one set of bytes at one place: the same key over another body, account or region is another
 * effect, or a refusal that says nothing about the first. Two parts, so that the two cases keep their names.
 *
 * ED1. Scope = origin, account, region. Content = method, path with query, covered headers, body.
 * ED2. An earlier digest that cannot be read differs.
 */
export type EffectDigest = string

const VERSION = "v1"

export interface DigestedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly covered_headers: readonly string[]
  readonly body: Uint8Array | null
  readonly account: string | undefined
  readonly region: string | undefined
}

export function effectDigest(request: DigestedRequest): EffectDigest {
  const covered = [...new Set(request.covered_headers.map((name) => name.toLowerCase()))].toSorted()
  const scope = [request.url.origin, request.account ?? null, request.region ?? null]
  const content = [
    request.method,
    request.url.pathname + request.url.search,
    covered.map((name) => [name, request.headers.get(name)]),
    sha256(request.body ?? new Uint8Array()),
  ]
  return [VERSION, sha256(JSON.stringify(scope)), sha256(JSON.stringify(content))].join(".")
}

/** How a request differs from the first one of its key generation; null when it does not. */
export function digestDifference(
  earlier: EffectDigest,
  current: EffectDigest,
): "key_body_changed" | "key_scope_changed" | null {
  if (earlier === current) return null
  const [version, scope] = earlier.split(".")
  const [current_version, current_scope] = current.split(".")
  return version === current_version && scope !== current_scope ? "key_scope_changed" : "key_body_changed"
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("base64url")
}
