/** The provider key as a request carries it, at the place that the contract names. */
import type { FakeRequest } from "./fake-provider.ts"

/** Null where the place cannot be read, undefined where nothing stands there. */
export function sentKey(sent_as: string, request: FakeRequest): string | null | undefined {
  const at = sent_as.indexOf(":")
  const [place, name] = [sent_as.slice(0, at), sent_as.slice(at + 1)]
  switch (place) {
    case "header":
      return request.headers[name.toLowerCase()]
    case "query":
      return new URL(request.path, "http://fake").searchParams.get(name) ?? undefined
    case "body":
      return inBody(request, name)
    default:
      return null
  }
}

function inBody({ body }: FakeRequest, name: string): string | null | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    let value: unknown = parsed
    for (const step of name.split(".")) value = (value as { readonly [name: string]: unknown } | undefined)?.[step]
    return typeof value === "string" ? value : undefined
  } catch {
    return new URLSearchParams(body).get(name) ?? undefined
  }
}
