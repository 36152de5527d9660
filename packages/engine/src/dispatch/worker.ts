/**
 * This engine as a worker: its row in the journal and the lease under which it starts attempts (protocol §5.7).
 *
 * Owns: registration, the lease that every dispatch renews, its renewal while attempts run.
 *
 * WK1. A lease permits *starting*. It is never renewed after it lapsed: a lapsed worker registers anew.
 * WK2. One lease per worker, not per operation: every dispatch carries its renewal in its own commit.
 * WK3. An idle worker writes nothing.
 */
import { DEFAULTS } from "@invokejs/protocol"
import type { Clock } from "../ports/clock.ts"
import type { Ids } from "../ports/ids.ts"
import type { Journal, Lease } from "../ports/journal.ts"
import type { Telemetry } from "../ports/telemetry.ts"

export interface Machine {
  readonly host: string
  readonly boot_id: string
  readonly pid: number
}

export interface WorkerOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly ids: Ids
  readonly telemetry: Telemetry
  readonly machine: Machine
  readonly tools: () => readonly string[]
}

export class Worker {
  readonly #options: WorkerOptions
  #identity: { worker_id: string; lease_token: string } | null = null
  #registering: Promise<{ worker_id: string; lease_token: string }> | null = null
  #retired: string[] = []
  #until = 0
  #attempts = 0
  #stopRenewal: (() => void) | null = null
  #closed = false

  constructor(options: WorkerOptions) {
    this.#options = options
  }

  get worker_id(): string | null {
    return this.#identity?.worker_id ?? null
  }

  /** Whether this process is that worker, or was until it took another id. */
  owns(worker_id: string): boolean {
    return worker_id === this.#identity?.worker_id || this.#retired.includes(worker_id)
  }

  /** The lease for a dispatch decided at `now`; registers the worker first if it has to. */
  async lease(now: number): Promise<Lease> {
    const { worker_id, lease_token } = await this.#registered()
    return { worker_id, lease_token, until: now + DEFAULTS.lease_ms }
  }

  /** Tells that a dispatch committed under this lease: it holds until then. */
  granted(lease: Lease): void {
    if (lease.worker_id === this.#identity?.worker_id) this.#until = Math.max(this.#until, lease.until)
  }

  /**
   * After a refusal of this lease: another registration, another token. The old row is closed with the engine. A second refusal
   * of the same lease leaves the registration that came since alone.
   */
  renounce(refused: Pick<Lease, "worker_id">): void {
    if (this.#identity?.worker_id !== refused.worker_id) return
    this.#retired.push(this.#identity.worker_id)
    this.#identity = null
    this.#registering = null
  }

  opened(): void {
    this.#attempts += 1
    this.#scheduleRenewal()
  }

  ended(): void {
    this.#attempts -= 1
    if (this.#attempts === 0) {
      this.#stopRenewal?.()
      this.#stopRenewal = null
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopRenewal?.()
    this.#stopRenewal = null
    if (this.#attempts > 0) return
    const ids = [...this.#retired, ...(this.#identity ? [this.#identity.worker_id] : [])]
    for (const id of ids) await this.#options.journal.workers.close(id).catch(() => undefined)
  }

  async #registered(): Promise<{ worker_id: string; lease_token: string }> {
    if (this.#identity) return this.#identity
    this.#registering ??= this.#register()
    return this.#registering
  }

  async #register(): Promise<{ worker_id: string; lease_token: string }> {
    const { ids, journal, machine, tools } = this.#options
    const identity = { worker_id: ids.worker(), lease_token: ids.token() }
    try {
      await journal.workers.register({ ...identity, ...machine, started_at: journal.now(), tools: tools() })
    } catch (error) {
      this.#registering = null
      throw error
    }
    this.#identity = identity
    return identity
  }

  #scheduleRenewal(): void {
    if (this.#stopRenewal || this.#closed || this.#attempts === 0) return
    this.#stopRenewal = this.#options.clock.after(DEFAULTS.lease_renew_ms, () => {
      this.#stopRenewal = null
      void this.#renew()
    })
  }

  async #renew(): Promise<void> {
    const { journal, telemetry } = this.#options
    const now = journal.now()
    const identity = this.#identity
    if (!identity || this.#attempts === 0) return
    if (now >= this.#until) {
      telemetry.log("warn", "the lease lapsed; its attempts go on and will be reconciled", {
        worker_id: identity.worker_id,
      })
      this.renounce(identity)
      return
    }
    const lease = { ...identity, until: now + DEFAULTS.lease_ms }
    try {
      if (await journal.workers.renew(lease, now)) this.granted(lease)
      else this.renounce(identity)
    } catch (error) {
      telemetry.log("warn", "the lease could not be renewed", { error: String(error) })
    }
    this.#scheduleRenewal()
  }
}
