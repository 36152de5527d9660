/** Requests that were taken from their clients and not yet delivered: what lands late, when a test says so. */

export interface HeldRequest {
  readonly id: string
  readonly method: string
  readonly path: string
}

export interface LandedRequest extends HeldRequest {
  /** What the target answered, or null when it ended without an answer. */
  readonly target_status: number | null
}

interface Held extends HeldRequest {
  readonly letGo: (deliver: boolean) => void
  readonly landed: Promise<number | null>
  readonly land: (status: number | null) => void
}

export class HeldRequests {
  readonly #held = new Map<string, Held>()
  readonly #changed: () => void
  #made = 0

  constructor(changed: () => void) {
    this.#changed = changed
  }

  list(): readonly HeldRequest[] {
    return [...this.#held.values()].map(({ id, method, path }) => ({ id, method, path }))
  }

  /** Keeps the calling exchange here. Answers with what to call once the target has answered, or null: do not deliver. */
  async hold(method: string, path: string): Promise<((status: number | null) => void) | null> {
    this.#made += 1
    const id = `held_${this.#made}`
    let land: (status: number | null) => void = () => {}
    const landed = new Promise<number | null>((resolve) => {
      land = resolve
    })
    const deliver = await new Promise<boolean>((letGo) => {
      this.#held.set(id, { id, method, path, letGo, landed, land })
      this.#changed()
    })
    if (!deliver) land(null)
    return deliver ? land : null
  }

  /** Delivers one held request, the oldest unless named, and waits until the target has answered it. */
  async release(id?: string): Promise<LandedRequest> {
    const held = id === undefined ? this.#held.values().next().value : this.#held.get(id)
    if (held === undefined) throw new Error(id === undefined ? "no request is held" : `no request is held as ${id}`)
    this.#held.delete(held.id)
    held.letGo(true)
    return { id: held.id, method: held.method, path: held.path, target_status: await held.landed }
  }

  /** Forgets every held request: they are never delivered. */
  dropAll(): void {
    for (const held of this.#held.values()) held.letGo(false)
    this.#held.clear()
  }
}
