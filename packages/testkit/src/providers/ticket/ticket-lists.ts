/** The lists of the ticket provider: pages of an older state, and a search that is older still. */
import { PlainError } from "../plain-error.ts"
import type { ProviderRequest } from "../provider.ts"
import type { Ticket } from "./ticket.ts"

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100

export interface TicketPage {
  readonly data: readonly Ticket[]
  readonly next_cursor: string | null
}

/**
 * One page, newest first. A stable cursor names the last ticket seen. An unstable one counts rows, so that a ticket
 * made between two pages shows one ticket twice, and a deleted one hides another.
 */
export function ticketPage(request: ProviderRequest, tickets: readonly Ticket[], stable_cursor: boolean): TicketPage {
  const { query } = request
  const since = Date.parse(query.get("created_since") ?? "1970-01-01T00:00:00Z")
  if (Number.isNaN(since)) throw new PlainError(422, "invalid_field", `"created_since" is not a time`)
  const kept = tickets.filter(
    (ticket) =>
      equal(query, "external_ref", ticket.external_ref) &&
      equal(query, "name", ticket.name) &&
      equal(query, "state", ticket.state) &&
      Date.parse(ticket.created_at) >= since,
  )
  const limit = pageLimit(query.get("limit"))
  const from = startOf(kept, query.get("cursor"))
  const data = kept.slice(from, from + limit)
  const last = data.at(-1)
  if (last === undefined || from + limit >= kept.length) return { data, next_cursor: null }
  return { data, next_cursor: stable_cursor ? `after.${last.id}` : `row.${from + limit}` }
}

/** Tickets whose texts contain the words of `q`, all of them, in any case. */
export function searchTickets(request: ProviderRequest, tickets: readonly Ticket[]): TicketPage {
  const words = (request.query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) throw new PlainError(422, "missing_field", `"q" is required`)
  const data = tickets.filter((ticket) => {
    const text = [ticket.title, ticket.body, ticket.external_ref ?? "", ticket.name ?? ""].join("\n").toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return { data: data.slice(0, LIMIT_MAX), next_cursor: null }
}

function equal(query: URLSearchParams, name: string, field: string | null): boolean {
  const wanted = query.get(name)
  return wanted === null || wanted === field
}

function pageLimit(value: string | null): number {
  const limit = value === null ? LIMIT_DEFAULT : Number(value)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw new PlainError(422, "invalid_limit", `"limit" is 1 to ${LIMIT_MAX}`)
}

function startOf(tickets: readonly Ticket[], cursor: string | null): number {
  if (cursor === null) return 0
  const [kind, place = ""] = cursor.split(".", 2)
  if (kind === "row" && /^\d+$/.test(place)) return Number(place)
  const at = kind === "after" ? tickets.findIndex((ticket) => ticket.id === place) : -1
  if (at < 0) throw new PlainError(422, "invalid_cursor", "The cursor is not of this list")
  return at + 1
}
