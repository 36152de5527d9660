/**
 * A fake made of recorded answers: what the provider said to the effect request, and to lookups before and after it.
 *
 * RP1. An effect is a delivery of the recorded effect request: a second delivery is a second effect, as it is at a provider
 *      without keys. Where `key` names the place of one, a known key gives the first answer again.
 * RP2. Texts like `{{body.operation_id}}`, `{{header.idempotency-key}}`, `{{query.id}}` and `{{now}}` in answers are filled from the effect request that was
 *      delivered, because a recording was made under other ids.
 */
import type { FakeAnswer, FakeInProcess, FakeRequest, FakeWorld } from "./fake-provider.ts"
import { sentKey } from "./sent-key.ts"

export interface RecordedExchange {
  readonly method: string
  /** Without its query; a trailing `*` matches every path that begins so. */
  readonly path: string
  readonly answer: FakeAnswer
}

export interface Recording {
  readonly effect: RecordedExchange
  /** Answers to other requests before the effect took place. */
  readonly before: readonly RecordedExchange[]
  /** And from then on. */
  readonly after: readonly RecordedExchange[]
  /** Where the provider takes a key: `header:Idempotency-Key`. */
  readonly key?: string
}

/** For `provider` under `prove`: `provider: recordedProvider({ effect, before, after })`. */
export function recordedProvider(recording: Recording): (world: FakeWorld) => FakeInProcess {
  return (world) => new Recorded(recording, world)
}

class Recorded implements FakeInProcess {
  readonly #recording: Recording
  readonly #world: FakeWorld
  readonly #keys = new Map<string, FakeAnswer>()
  #delivered: { readonly request: FakeRequest; readonly at: number } | null = null
  #effects = 0

  constructor(recording: Recording, world: FakeWorld) {
    this.#recording = recording
    this.#world = world
  }

  effects(): number {
    return this.#effects
  }

  handle(request: FakeRequest): FakeAnswer {
    const { effect, before, after, key } = this.#recording
    if (isFor(effect, request)) return this.#take(request, key === undefined ? null : sentKey(key, request))
    const known = (this.#delivered === null ? before : after).find((one) => isFor(one, request))
    if (known === undefined) return { status: 501, body: { error: `not recorded: ${request.method} ${request.path}` } }
    return this.#filled(known.answer)
  }

  #take(request: FakeRequest, key: string | null | undefined): FakeAnswer {
    const kept = key ? this.#keys.get(key) : undefined
    if (kept) return kept
    this.#effects += 1
    this.#delivered ??= { request, at: this.#world.now() }
    const answer = this.#filled(this.#recording.effect.answer)
    if (key) this.#keys.set(key, answer)
    return answer
  }

  /** RP2. */
  #filled(answer: FakeAnswer): FakeAnswer {
    const delivered = this.#delivered
    if (delivered === null) return answer
    const text = JSON.stringify(answer).replace(
      /\{\{(?:(now)|(body|header|query)\.([\w.[\]-]+))\}\}/g,
      (all, now, place, name) => {
        if (now !== undefined) return new Date(delivered.at).toISOString()
        const value = sentKey(`${String(place)}:${String(name)}`, delivered.request)
        return typeof value === "string" ? JSON.stringify(value).slice(1, -1) : String(all)
      },
    )
    return JSON.parse(text) as FakeAnswer
  }
}

function isFor({ method, path }: RecordedExchange, request: FakeRequest): boolean {
  if (method !== request.method) return false
  const asked = request.path.split("?", 1)[0] ?? ""
  return path.endsWith("*") ? asked.startsWith(path.slice(0, -1)) : asked === path
}
