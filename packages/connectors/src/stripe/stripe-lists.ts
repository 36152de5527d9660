/**
 * Looking at Stripe's lists for objects of one operation. Never its search, which is allowed to miss what was just written.
 *
 * SL1. A list is complete only if every page was read: its silence counts then, and not before.
 * SL2. An event is proof that its request was executed. No event is proof of nothing: they may trail, and a key may not read them.
 */
import type { ProbeContext } from "@invokejs/engine"
import { formText, type StripeAnswer, type StripeApi, type StripeParams } from "./stripe-api.ts"
import { isRecord, metadataOf, stripeObject, textOf, type StripeObject } from "./stripe-object.ts"

export type StripeLook = Pick<ProbeContext, "operationId" | "providerKeys" | "firstDispatchedAt" | "fetch" | "signal">

const PAGE = 100
/** 2 000 objects of one customer or payment since the day before: more than that is no list to conclude from. */
const PAGES_MAX = 20
const EVENT_PAGES_MAX = 10
/** Objects are listed from a day before the first dispatch on: no machine with working TLS has a clock that far off. */
const OBJECTS_MARGIN_S = 86_400
/** Events of the whole account come in this list, and their absence decides nothing. */
const EVENTS_MARGIN_S = 300

export interface StripeListing {
  readonly objects: readonly StripeObject[]
  readonly complete: boolean
}

export interface StripeQuery {
  readonly path: string
  readonly kind: string
  readonly filter: StripeParams
}

/** Every object of the list since the first dispatch. Throws where Stripe did not answer with a list. */
export async function listSince(api: StripeApi, look: StripeLook, query: StripeQuery): Promise<StripeListing> {
  return pages(api, look, { ...query, margin_s: OBJECTS_MARGIN_S, pages_max: PAGES_MAX })
}

/** The objects that carry this operation's id, or one of its provider keys. */
export function carryingOperation(objects: readonly StripeObject[], look: StripeLook): readonly StripeObject[] {
  return objects.filter((object) => {
    const { operation_id, idempotency_key } = metadataOf(object)
    return operation_id === look.operationId || look.providerKeys.some((key) => key === idempotency_key)
  })
}

/** What correlates an object with its operation, and with its key where the journal has forgotten the operation. */
export function correlation(call: { readonly operationId: string; readonly providerKey: string }): StripeParams {
  return { operation_id: call.operationId, idempotency_key: call.providerKey }
}

export interface StripeEventOfKey {
  readonly type: string
  readonly idempotency_key: string
  readonly object_id: string
}

/** Events caused by requests under this operation's provider keys. Empty says nothing (SL2). */
export async function eventsOfKeys(
  api: StripeApi,
  look: StripeLook,
  types: readonly string[],
): Promise<readonly StripeEventOfKey[]> {
  if (look.providerKeys.length === 0) return []
  const query = { path: "/v1/events", kind: "event", filter: { types } }
  try {
    const { objects } = await pages(api, look, { ...query, margin_s: EVENTS_MARGIN_S, pages_max: EVENT_PAGES_MAX })
    return objects.flatMap((event) => eventOfKey(event, look.providerKeys))
  } catch (error) {
    // A restricted key may list charges and no events; the lists are evidence enough.
    if (error instanceof ListRefused && error.status < 429) return []
    throw error
  }
}

function eventOfKey(event: StripeObject, keys: readonly string[]): StripeEventOfKey[] {
  const { request, data } = event
  const type = textOf(event, "type")
  const idempotency_key = isRecord(request) ? textOf(request, "idempotency_key") : null
  const object_id = isRecord(data) && isRecord(data["object"]) ? textOf(data["object"], "id") : null
  if (type === null || idempotency_key === null || object_id === null || !keys.includes(idempotency_key)) return []
  return [{ type, idempotency_key, object_id }]
}

/** One object by its id; null where Stripe says that there is none. */
export async function retrieve(
  api: StripeApi,
  look: StripeLook,
  path: string,
  kind: string,
): Promise<StripeObject | null> {
  const answer = await api.get(path, look)
  if (answer.status === 404) return null
  const object = answer.status === 200 ? stripeObject(answer.body, kind) : null
  if (object === null) throw new ListRefused(answer)
  return object
}

class ListRefused extends Error {
  override readonly name = "ListRefused"
  readonly status: number
  constructor({ status, request_id }: StripeAnswer) {
    super(`Stripe answered ${status} to a look${request_id === null ? "" : ` (${request_id})`}`)
    this.status = status
  }
}

interface Paging extends StripeQuery {
  readonly margin_s: number
  readonly pages_max: number
}

async function pages(
  api: StripeApi,
  look: StripeLook,
  { path, kind, filter, margin_s, pages_max }: Paging,
): Promise<StripeListing> {
  const since = sinceOf(look, margin_s)
  const objects: StripeObject[] = []
  for (let page = 0; page < pages_max; page += 1) {
    const after = objects.at(-1)?.id
    const query = formText({ ...filter, created: { gte: since }, limit: PAGE, starting_after: after })
    const answer = await api.get(`${path}?${query}`, look)
    const list = answer.status === 200 && isRecord(answer.body) ? answer.body : null
    const data: unknown = list?.["data"]
    const more = list?.["has_more"]
    if (!Array.isArray(data) || typeof more !== "boolean") throw new ListRefused(answer)
    const read = data.map((one: unknown) => stripeObject(one, kind))
    if (read.includes(null)) throw new ListRefused(answer)
    objects.push(...read.filter((one) => one !== null))
    if (!more) return { objects, complete: true }
    if (read.length === 0) break
  }
  return { objects, complete: false }
}

function sinceOf({ firstDispatchedAt }: StripeLook, margin_s: number): number {
  if (firstDispatchedAt === null) throw new Error("nothing was dispatched, so there is nothing to look for")
  return Math.floor(firstDispatchedAt.getTime() / 1_000) - margin_s
}
