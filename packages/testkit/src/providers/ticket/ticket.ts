/** A ticket, and what a client may write of it. */
import { PlainError } from "../plain-error.ts"

export interface Ticket {
  readonly id: string
  /** Unique among the tickets that are there; free again once its ticket is deleted. */
  readonly name: string | null
  readonly title: string
  readonly body: string
  /** The client's own mark. Not unique, not interpreted. */
  readonly external_ref: string | null
  readonly state: "open" | "closed"
  readonly version: number
  /** ISO 8601 in whole seconds. */
  readonly created_at: string
  readonly updated_at: string
}

export type TicketContent = Pick<Ticket, "name" | "title" | "body" | "external_ref" | "state">

const WRITABLE = ["name", "title", "body", "external_ref", "state"]

/** Reads a body onto the content there is: a new ticket and PUT start from nothing, PATCH from the present one. */
export function readContent(given: ReadonlyMap<string, unknown>, present: TicketContent | null): TicketContent {
  for (const name of given.keys()) {
    if (!WRITABLE.includes(name)) throw new PlainError(422, "unknown_field", `"${name}" cannot be written`)
  }
  const text = (name: string, otherwise: string | null): string | null => {
    const value = given.get(name)
    if (value === undefined) return otherwise
    if (value !== null && typeof value !== "string") throw new PlainError(422, "invalid_field", `"${name}" is a text`)
    return value
  }
  const title = text("title", present?.title ?? null)
  if (title === null || title === "") throw new PlainError(422, "missing_field", `"title" is required`)
  const state = text("state", present?.state ?? "open")
  if (state !== "open" && state !== "closed") throw new PlainError(422, "invalid_field", `"state" is open or closed`)
  return {
    name: text("name", present?.name ?? null),
    title,
    body: text("body", present?.body ?? "") ?? "",
    external_ref: text("external_ref", present?.external_ref ?? null),
    state,
  }
}

export function etag(ticket: Ticket): string {
  return `"${ticket.id}.${ticket.version}"`
}

export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
