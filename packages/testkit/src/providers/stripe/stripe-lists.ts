/** List endpoints: filters, newest first, pages by the id of the last object seen. */
import type { ProviderRequest } from "../provider.ts"
import type { FormValue } from "./form-body.ts"
import { isObject, parseForm } from "./form-body.ts"
import { invalid } from "./stripe-error.ts"

const LIMIT_DEFAULT = 10
const LIMIT_MAX = 100

export interface StripeList<T> {
  readonly object: "list"
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly url: string
}

/**
 * One page of the objects, which come newest first. `filters` names the parameters of this list that compare a field
 * of the object as text; `created` and the paging parameters belong to every list.
 */
export function listPage<T extends { readonly id: string; readonly created: number }>(
  request: ProviderRequest,
  objects: readonly T[],
  filters: Readonly<Record<string, (object: T) => string | null>>,
): StripeList<T> {
  const query = parseForm(request.query.toString())
  const paging = ["limit", "starting_after", "ending_before", "created", "expand"]
  for (const name of Object.keys(query)) {
    if (!paging.includes(name) && !Object.hasOwn(filters, name)) {
      throw invalid(`Received unknown parameter: ${name}`, name, "parameter_unknown")
    }
  }
  const created = createdFilter(query["created"])
  const kept = objects.filter((object) => {
    if (!created(object.created)) return false
    return Object.entries(filters).every(([name, field]) => matches(query[name], field(object)))
  })
  const limit = pageLimit(query["limit"])
  const after = position(kept, query["starting_after"], "starting_after")
  const before = position(kept, query["ending_before"], "ending_before")
  const from = after !== null ? after + 1 : before !== null ? Math.max(0, before - limit) : 0
  const until = before !== null && after === null ? before : from + limit
  const has_more = before !== null && after === null ? from > 0 : until < kept.length
  return { object: "list", data: kept.slice(from, until), has_more, url: request.path }
}

function matches(wanted: FormValue | undefined, field: string | null): boolean {
  if (wanted === undefined) return true
  return Array.isArray(wanted) ? wanted.includes(field ?? "") : wanted === field
}

function pageLimit(value: FormValue | undefined): number {
  if (value === undefined) return LIMIT_DEFAULT
  const limit = Number(value)
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw invalid(`This value must be between 1 and ${LIMIT_MAX}.`, "limit", "parameter_invalid_integer")
  }
  return limit
}

function position(
  objects: readonly { readonly id: string }[],
  id: FormValue | undefined,
  param: string,
): number | null {
  if (id === undefined) return null
  const at = objects.findIndex((object) => object.id === id)
  if (at < 0) throw invalid(`No such object: ${JSON.stringify(id)}`, param, "resource_missing")
  return at
}

function createdFilter(value: FormValue | undefined): (created: number) => boolean {
  if (value === undefined) return () => true
  if (typeof value === "string") return (created) => created === Number(value)
  if (!isObject(value)) throw invalid("Invalid timestamp", "created")
  const compare: Record<string, (created: number, bound: number) => boolean> = {
    gt: (created, bound) => created > bound,
    gte: (created, bound) => created >= bound,
    lt: (created, bound) => created < bound,
    lte: (created, bound) => created <= bound,
  }
  const tests = Object.entries(value).map(([name, bound]) => {
    const test = compare[name]
    if (test === undefined || typeof bound !== "string" || !/^\d+$/.test(bound)) {
      throw invalid("Invalid timestamp", `created[${name}]`)
    }
    return (created: number) => test(created, Number(bound))
  })
  return (created) => tests.every((test) => test(created))
}
