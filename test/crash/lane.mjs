// @ts-check
// The outside of one cell at a time: two providers that count their own effects, and a fresh fault proxy before one of them.

import { join } from "node:path"
import { FaultProxy, startProvider } from "@invokejs/testkit"
import { API_KEY } from "./outside-tools.mjs"

/** @typedef {import("@invokejs/testkit").RunningProvider<"stripe"> | import("@invokejs/testkit").RunningProvider<"mail">} Provider */

/**
 * @typedef {object} Side what a cell's tool talks to
 * @property {Provider} provider
 * @property {FaultProxy} proxy
 * @property {(marker: string) => Promise<number>} effects in the provider's own ledger
 */

export class Lane {
  #stripe
  #mail

  /** @param {import("@invokejs/testkit").RunningProvider<"stripe">} stripe @param {import("@invokejs/testkit").RunningProvider<"mail">} mail */
  constructor(stripe, mail) {
    this.#stripe = stripe
    this.#mail = mail
  }

  /** @param {string} directory */
  static async start(directory) {
    const settings = { api_key: API_KEY }
    const stripe = await startProvider("stripe", { directory: join(directory, "stripe"), settings })
    try {
      const mail = await startProvider("mail", {
        directory: join(directory, "mail"),
        settings: { ...settings, accept_status: 200 },
      })
      return new Lane(stripe, mail)
    } catch (error) {
      await stripe.kill()
      throw error
    }
  }

  /** @param {import("./outside-tools.mjs").Safety} safety @returns {Promise<Side>} */
  async side(safety) {
    const provider = safety === "irreversible" ? this.#mail : this.#stripe
    await provider.gate("open")
    await provider.answers([])
    const proxy = await FaultProxy.start({ target: provider.url })
    return { provider, proxy, effects: (marker) => effectsOf(provider, marker) }
  }

  async close() {
    await Promise.all([this.#stripe.kill(), this.#mail.kill()])
  }
}

/** @param {Provider} provider @param {string} marker */
async function effectsOf(provider, marker) {
  const effects = await provider.effects()
  return effects.filter(({ kind, object }) => {
    if (kind !== "charge.created" && kind !== "mail.sent") return false
    const made = /** @type {{ customer?: string, subject?: string }} */ (object)
    return made.customer === marker || made.subject === marker
  }).length
}
