/** Error answers of the providers that are shaped after no particular one. */
import { STATUS_CODES } from "node:http"
import { jsonAnswer, type ProviderAnswer, type ProviderRequest } from "./provider.ts"

export class PlainError extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.fields = fields
  }

  answer(): ProviderAnswer {
    return jsonAnswer(this.status, { error: { code: this.code, message: this.message, ...this.fields } })
  }
}

/** What such a provider answers with a status when nothing more is known. */
export function plainRefusal(status: number): ProviderAnswer {
  const message = STATUS_CODES[status] ?? "Unknown"
  return jsonAnswer(status, { error: { code: message.toLowerCase().replaceAll(" ", "_"), message } })
}

export function askForBearer(request: ProviderRequest, api_key: string): void {
  if (api_key === "" || request.headers.get("authorization") === `Bearer ${api_key}`) return
  throw new PlainError(401, "unauthorized", "The bearer token is missing or wrong")
}

/** The request's body as a JSON object. */
export function jsonBody(request: ProviderRequest): ReadonlyMap<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(request.body)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new PlainError(400, "invalid_json", "The body is not a JSON object")
  }
  return new Map(Object.entries(parsed))
}
