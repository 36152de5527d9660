/**
 * Object ids that look as the real ones do. An id is made from the ledger's seed and the number of the ledger line it
 * belongs to, so that a provider started with a fixed seed gives the same ids in every run.
 */
import { createHash, randomBytes } from "node:crypto"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

export function freshSeed(): string {
  return randomBytes(12).toString("hex")
}

/** Hands out the ids of one ledger line. */
export class LineIds {
  readonly #seed: string
  readonly #line: number
  #made = 0

  constructor(seed: string, line: number) {
    this.#seed = seed
    this.#line = line
  }

  next(prefix: string, length = 24): string {
    this.#made += 1
    const digest = createHash("sha256").update(`${this.#seed}:${prefix}:${this.#line}:${this.#made}`).digest()
    let id = prefix
    for (let at = 0; at < length; at += 1) id += ALPHABET[(digest[at % digest.length] ?? 0) % ALPHABET.length]
    return id
  }
}
