/**
 * Which request of an attempt is its effect request: the one that may change the world (protocol §0, §5.2).
 *
 * ER1. GET and HEAD are reads. Every other request is the effect unless it is marked `{effect: false}`.
 * ER2. Where the tool declares its effect, what matches is the effect, whatever the mark says, and what does not match
 *      needs no mark.
 * ER3. `{effect: true}` makes any request the effect.
 * ER4. Matching errs towards the effect: percent-encoding, doubled and trailing slashes do not hide one.
 */
export interface EffectRule {
  readonly method: string
  /**
   * The URL's path: `/v1/charges`, with `:name` for one segment and `*` for any rest; or a pattern the path is tested
   * against.
   */
  readonly path: string | RegExp
}

export interface EffectQuestion {
  readonly method: string
  readonly pathname: string
  /** The caller's mark, if it gave one. */
  readonly mark: boolean | undefined
  readonly rule: EffectRule | undefined
}

export function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD"
}

export function isEffect({ method, pathname, mark, rule }: EffectQuestion): boolean {
  if (mark === true) return true
  if (rule) return rule.method.toUpperCase() === method && pathMatches(rule.path, pathname)
  return !isRead(method) && mark !== false
}

function pathMatches(path: string | RegExp, pathname: string): boolean {
  const pattern =
    typeof path === "string" ? templatePattern(path) : new RegExp(path.source, path.flags.replace(/[gy]/g, ""))
  return spellings(pathname).some((spelling) => pattern.test(spelling))
}

function templatePattern(template: string): RegExp {
  const source = template
    .replace(/\/+$/, "")
    .split(/(\*|:[A-Za-z_][A-Za-z0-9_]*)/)
    .map((part) => {
      if (part === "*") return ".*"
      return part.startsWith(":") && part.length > 1 ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    })
    .join("")
  return new RegExp(`^${source}/?$`)
}

/** The path as given, and as a lenient server reads it. */
function spellings(pathname: string): string[] {
  let decoded = pathname
  try {
    decoded = decodeURI(pathname)
  } catch {
    // A stray percent sign: only the raw spelling can be compared.
  }
  return [pathname, decoded, decoded.replace(/\/{2,}/g, "/")]
}
