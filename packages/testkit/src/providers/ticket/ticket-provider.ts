/**
 * A ticket system without idempotency keys, whose reads by id are exact and whose lists are not.
 *
 * 1. `GET /tickets/:id` is the present; `GET /tickets` is the state `list_lag_ms` ago; `GET /search` is the state
 *    `search_lag_ms` ago and still holds deleted tickets.
 * 2. A name is unique among the tickets that are there (409 names the holder). Deleting frees it.
 * 3. Writes take `If-Match`; a ticket's version moves with every write, also one that changes nothing.
 */
import { askForBearer, jsonBody, PlainError, plainRefusal } from "../plain-error.ts"
import { jsonAnswer, type Execution, type Plan, type Provider, type ProviderRequest } from "../provider.ts"
import type { ProviderAnswer, ProviderWorld } from "../provider.ts"
import type { Collection } from "../object-store.ts"
import type { ProviderKind } from "../provider-server.ts"
import { COMMON_DEFAULTS, type CommonSettings } from "../provider-settings.ts"
import { etag, isoSeconds, readContent, type Ticket, type TicketContent } from "./ticket.ts"
import { searchTickets, ticketPage } from "./ticket-lists.ts"

export interface TicketSettings extends CommonSettings {
  /** How far the search index is behind. */
  readonly search_lag_ms: number
  /** How long the search index still answers with a deleted ticket. */
  readonly search_keeps_deleted_ms: number
  /** Whether a page follows the last ticket seen, or a count of rows. */
  readonly stable_cursor: boolean
  /** Whether a write without `If-Match` is refused (428). */
  readonly require_if_match: boolean
}

export const TICKET: ProviderKind<TicketSettings> = {
  name: "ticket",
  defaults: {
    ...COMMON_DEFAULTS,
    search_lag_ms: 0,
    search_keeps_deleted_ms: 24 * 60 * 60 * 1000,
    stable_cursor: false,
    require_if_match: false,
  },
  choices: {},
  requestIdPrefix: "treq_",
  open: (world) => new TicketProvider(world),
}

class TicketProvider implements Provider {
  readonly #world: ProviderWorld<TicketSettings>
  readonly #tickets: Collection<Ticket>

  constructor(world: ProviderWorld<TicketSettings>) {
    this.#world = world
    this.#tickets = world.store.collection("tickets")
  }

  plan(request: ProviderRequest): Plan {
    try {
      askForBearer(request, this.#world.settings().api_key)
      const id = /^\/tickets\/([^/]+)$/.exec(request.path)?.[1]
      if (id !== undefined) return this.#planOne(request, id)
      switch (`${request.method} ${request.path}`) {
        case "POST /tickets":
          return this.#planCreate(request)
        case "GET /tickets":
          return read(jsonAnswer(200, ticketPage(request, this.#listed(), this.#world.settings().stable_cursor)))
        case "GET /search":
          return read(jsonAnswer(200, searchTickets(request, this.#indexed())))
        default:
          throw new PlainError(404, "not_found", `There is no ${request.method} ${request.path}`)
      }
    } catch (error) {
      if (error instanceof PlainError) return read(error.answer())
      throw error
    }
  }

  due(): [] {
    return []
  }

  ordered(status: number): ProviderAnswer {
    return plainRefusal(status)
  }

  #planOne(request: ProviderRequest, id: string): Plan {
    switch (request.method) {
      case "GET":
        return read(withEtag(200, this.#present(id)))
      case "PUT":
      case "PATCH": {
        const given = jsonBody(request)
        return execute(() => {
          const present = this.#matching(request, id)
          return this.#write(present, readContent(given, request.method === "PATCH" ? present : null))
        })
      }
      case "DELETE":
        return execute(() => {
          const ticket = this.#matching(request, id)
          return {
            effects: [{ kind: "ticket.deleted", object_id: id, object: ticket }],
            changes: [{ collection: "tickets", id, object: null }],
            answer: { status: 204, body: "" },
          }
        })
      default:
        throw new PlainError(405, "method_not_allowed", `A ticket takes no ${request.method}`)
    }
  }

  #planCreate(request: ProviderRequest): Plan {
    const content = readContent(jsonBody(request), null)
    return execute(() => {
      this.#nameIsFree(content, null)
      const now = isoSeconds(this.#world.clock.now_ms())
      const id = request.ids.next("tkt_", 16)
      const ticket: Ticket = { id, ...content, version: 1, created_at: now, updated_at: now }
      return {
        effects: [{ kind: "ticket.created", object_id: ticket.id, object: ticket }],
        changes: [{ collection: "tickets", id: ticket.id, object: ticket }],
        answer: withEtag(201, ticket),
      }
    })
  }

  #write(present: Ticket, content: TicketContent): Execution {
    this.#nameIsFree(content, present.id)
    const updated_at = isoSeconds(this.#world.clock.now_ms())
    const ticket: Ticket = { ...present, ...content, version: present.version + 1, updated_at }
    return {
      effects: [{ kind: "ticket.updated", object_id: ticket.id, object: ticket }],
      changes: [{ collection: "tickets", id: ticket.id, object: ticket }],
      answer: withEtag(200, ticket),
    }
  }

  #present(id: string): Ticket {
    const ticket = this.#tickets.get(id)
    if (ticket === null) throw new PlainError(404, "not_found", `There is no ticket ${id}`)
    return ticket
  }

  /** The present ticket, if it is the one that `If-Match` asks for. */
  #matching(request: ProviderRequest, id: string): Ticket {
    const ticket = this.#present(id)
    const wanted = request.headers.get("if-match")
    if (wanted === undefined && this.#world.settings().require_if_match) {
      throw new PlainError(428, "precondition_required", "This write needs If-Match")
    }
    if (wanted !== undefined && wanted !== "*" && wanted !== etag(ticket)) {
      throw new PlainError(412, "precondition_failed", `The ticket is at ${etag(ticket)}`)
    }
    return ticket
  }

  #nameIsFree(content: TicketContent, own_id: string | null): void {
    if (content.name === null) return
    const holder = this.#tickets.all().find((ticket) => ticket.name === content.name && ticket.id !== own_id)
    if (holder === undefined) return
    throw new PlainError(409, "name_taken", `"${content.name}" is taken`, { existing_id: holder.id })
  }

  #listed(): Ticket[] {
    return this.#tickets.behind(this.#world.settings().list_lag_ms, this.#world.clock.now_ms())
  }

  #indexed(): Ticket[] {
    const { search_lag_ms, search_keeps_deleted_ms } = this.#world.settings()
    const now_ms = this.#world.clock.now_ms()
    const seen = this.#tickets.behind(search_lag_ms, now_ms)
    const ids = new Set(seen.map((ticket) => ticket.id))
    const deleted = this.#tickets.deletedSince(now_ms - search_keeps_deleted_ms)
    return [...seen, ...deleted.filter((ticket) => !ids.has(ticket.id))]
  }
}

function read(answer: ProviderAnswer): Plan {
  return { kind: "answer", answer }
}

/** Runs without a key; what is refused while running is answered and makes nothing true. */
function execute(run: () => Execution): Plan {
  return {
    kind: "execute",
    key: null,
    run: () => {
      try {
        return run()
      } catch (error) {
        if (error instanceof PlainError) return { effects: [], changes: [], answer: error.answer() }
        throw error
      }
    },
  }
}

function withEtag(status: number, ticket: Ticket): ProviderAnswer {
  return jsonAnswer(status, ticket, { etag: etag(ticket) })
}
