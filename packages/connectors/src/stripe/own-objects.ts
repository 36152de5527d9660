/**
 * The objects of one operation: those of a list that carry its id or key, and those that events say its key made.
 *
 * OO1. Every object is read as it stands now: an event names it, and its own id is read again.
 */
import type { FoundObject } from "@invokejs/engine"
import type { StripeApi } from "./stripe-api.ts"
import {
  carryingOperation,
  eventsOfKeys,
  listSince,
  retrieve,
  type StripeEventOfKey,
  type StripeLook,
  type StripeQuery,
} from "./stripe-lists.ts"
import { metadataOf, numberOf, textOf, type StripeObject } from "./stripe-object.ts"

export interface OwnObject {
  readonly object: StripeObject
  /** The provider key under which an event says that it was made; null where it is known by its own metadata. */
  readonly key: string | null
}

export interface OwnObjects {
  readonly own: readonly OwnObject[]
  /** The whole list was read: where nothing of ours was in it, nothing of ours is there. */
  readonly complete: boolean
  readonly events: readonly StripeEventOfKey[]
}

export interface OwnQuery extends StripeQuery {
  readonly events: readonly string[]
  /** Whether an object of ours says enough; events are read where none does. */
  readonly enough: (object: StripeObject) => boolean
}

export async function ownObjects(api: StripeApi, look: StripeLook, query: OwnQuery): Promise<OwnObjects> {
  const { objects, complete } = await listSince(api, look, query)
  const listed = carryingOperation(objects, look)
  const own = listed.map((object) => ({ object, key: null }))
  if (listed.some(query.enough)) return { own, complete, events: [] }
  const events = await eventsOfKeys(api, look, query.events)
  const named = new Map(events.map((event) => [event.object_id, event.idempotency_key]))
  for (const { id } of listed) named.delete(id)
  const read = await Promise.all(
    [...named].map(async ([id, key]) => ({ object: await readOne(api, look, query, id), key })),
  )
  return {
    own: [...own, ...read.flatMap(({ object, key }) => (object === null ? [] : [{ object, key }]))],
    complete,
    events,
  }
}

/** An event of one of the types may be about an object of another kind; its id then leads nowhere here. */
async function readOne(
  api: StripeApi,
  look: StripeLook,
  { path, kind }: StripeQuery,
  id: string,
): Promise<StripeObject | null> {
  return retrieve(api, look, `${path}/${encodeURIComponent(id)}`, kind)
}

export interface Told {
  readonly kind: string
  readonly account: string | undefined
  /** It will not change by itself any more. */
  readonly final: boolean
  readonly state: object
}

/** The object as evidence, with whatever correlates it. */
export function foundObject({ object, key }: OwnObject, { kind, account, final, state }: Told): FoundObject {
  const metadata = metadataOf(object)
  const operationId = textOf(metadata, "operation_id")
  const providerKey = key ?? textOf(metadata, "idempotency_key")
  const createdAt = numberOf(object, "created")
  return {
    id: object.id,
    kind,
    state,
    ...(account === undefined ? {} : { account }),
    ...(operationId === null ? {} : { operationId }),
    ...(providerKey === null ? {} : { providerKey }),
    ...(createdAt === null ? {} : { createdAt }),
    ...(final ? { final } : {}),
  }
}
