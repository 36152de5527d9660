/**
 * What an HTTP status alone says about whether the effect request was applied (interfaces, "Outcomes a tool can say").
 *
 * DS1. The list of definite statuses holds for the effect request's own answer through Invoke's transport, and nowhere else.
 * DS2. 408, 500, 502 and 504 are never definite, whoever says so: the work may have been done, or may still be done.
 * DS3. Permanent means that the answer is about the request itself, so the same bytes get it again. An answer about what
 *      surrounds the request (credentials, rights, connection, moment, load) may change, so the action stays `not_applied`.
 */
export const DEFINITE_STATUSES = [
  400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 417, 421, 422, 425, 426, 428, 431, 501, 505,
] as const

/** One code, several meanings: only the tool, which reads the body, can say which. */
export const WORD_STATUSES = [402, 409, 410, 412, 423, 424, 429, 503] as const

export const NEVER_DEFINITE = [408, 500, 502, 504] as const

/**
 * Negative answers after which the same request may be accepted later:
 * 401 credentials are renewed · 403 rights are granted, or a filter in front relents · 421 another connection is used ·
 * 425 the moment was too early · 423, 424 a lock or a dependency clears · 429, 503 load passes.
 * 426, 428 and 431 are not here: the same bytes over the same transport are refused again.
 */
const MAY_CHANGE: readonly number[] = [401, 403, 421, 423, 424, 425, 429, 503]

/** A checkable tool looks once before it believes these: an intermediary that repeats a create makes "invalid" of it. */
const LOOK_FIRST_STATUSES = [400, 404, 422] as const

export type StatusMeaning =
  /** 200, 201, 204: what the rule `2xx` accepts. */
  | "applied"
  /** 202: taken, not finished. */
  | "accepted"
  /** Proof of non-application, permanent or not. */
  | "rejected"
  | "not_applied"
  /** Only the tool's word decides. */
  | "word"
  /** Nobody's word makes it a negative. */
  | "unknown"

/** `extra` are the contract's own `definite` statuses; they cannot make a definite answer of DS2's. */
export function statusMeaning(status: number, extra: readonly number[] = []): StatusMeaning {
  if (status === 200 || status === 201 || status === 204) return "applied"
  if (status === 202) return "accepted"
  if (includes(NEVER_DEFINITE, status)) return "unknown"
  if (status < 400) return "unknown"
  if (includes(DEFINITE_STATUSES, status) || extra.includes(status)) {
    return MAY_CHANGE.includes(status) ? "not_applied" : "rejected"
  }
  return "word"
}

export function looksFirst(status: number): boolean {
  return includes(LOOK_FIRST_STATUSES, status)
}

function includes(list: readonly number[], status: number): boolean {
  return list.includes(status)
}
