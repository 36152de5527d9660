import { TransportError } from "./transport-error.ts"

/**
 * Where a read goes next when its caller asked for redirects to be followed. Requests that are not reads never come
 * here: a 307 followed with a body is a second effect.
 */
export const REDIRECTS_MAX = 5

const REDIRECT_STATUSES = [301, 302, 303, 307, 308]

/** Headers that belong to the first origin. */
const CREDENTIALS = ["authorization", "proxy-authorization", "cookie"]

export function isRedirect(response: Response): boolean {
  return REDIRECT_STATUSES.includes(response.status) && response.headers.has("location")
}

export interface Redirect {
  readonly url: URL
  readonly headers: Headers
  readonly other_origin: boolean
}

export function followRedirect(from: URL, sent: Headers, response: Response): Redirect {
  const url = locationUrl(from, response.headers.get("location") ?? "")
  const headers = new Headers(sent)
  const other_origin = url.origin !== from.origin
  if (other_origin) for (const name of CREDENTIALS) headers.delete(name)
  return { url, headers, other_origin }
}

function locationUrl(from: URL, location: string): URL {
  let url: URL | null = null
  try {
    url = new URL(location, from)
  } catch {
    // Refused below, together with what is no web address.
  }
  if (url?.protocol === "http:" || url?.protocol === "https:") return url
  throw new TransportError("redirect_refused", {
    stage: "head_received",
    message: "the redirect does not lead to an http: or https: URL",
  })
}
