/**
 * The provider key: what the provider dedupes on (protocol §0, §2; review 2 item 18).
 *
 * Owns: its preimage and its form. A forgotten admission of the same action presents the same key again, so the preimage
 * names the journal, the tenant, the chain, the revision, the generation and the step, and nothing that is minted per operation.
 *
 * PK1. Equal inputs give equal keys, in every process and release: the preimage is versioned and pinned by a test.
 * PK2. A key carries at least `BITS_MIN` bits of the hash; a contract that leaves less room is refused, not shortened.
 */
import { canonicalJson } from "./canonical-json.ts"
import { InvokeError } from "./invoke-error.ts"
import type { Sha256 } from "./fingerprint.ts"

export interface ProviderKeyParts {
  readonly journal_name: string
  readonly tenant: string
  /** The chain's key; the operation id only where there is no key. */
  readonly chain: string
  readonly revision: number
  readonly generation: number
  readonly step?: string
}

export interface ProviderKeyForm {
  readonly max_length?: number
  /** `hex`, `base32hex`, `alphanumeric`, `uuid4`, or the characters themselves. */
  readonly alphabet?: string
}

/** Two different actions meeting in one key would lose one of them: at 96 bits that takes about 10^14 keys of one provider. */
const BITS_MIN = 96
const HASH_BITS = 256

const ALPHABETS: { readonly [name: string]: string } = {
  hex: "0123456789abcdef",
  base32hex: "0123456789abcdefghijklmnopqrstuv",
  alphanumeric: "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
}

export function providerKey(parts: ProviderKeyParts, sha256: Sha256, form: ProviderKeyForm = {}): string {
  const digest = sha256(
    canonicalJson([
      "invoke-provider-key-1",
      parts.journal_name,
      parts.tenant,
      parts.chain,
      parts.revision,
      parts.generation,
      parts.step ?? null,
    ]),
  )
  return shaped(digest, form)
}

/** Whether a contract's key form can carry a key at all; checked when a tool is defined. Throws `definition_invalid`. */
export function checkProviderKeyForm(form: ProviderKeyForm): void {
  shaped("0".repeat(64), form)
}

function shaped(
  digest: string,
  { max_length: room = Number.POSITIVE_INFINITY, alphabet = "hex" }: ProviderKeyForm,
): string {
  if (alphabet === "uuid4") {
    if (room < 36) throw formError(`a UUID has 36 characters; the provider allows ${room}`)
    return uuid4(digest)
  }
  const characters = ALPHABETS[alphabet] ?? alphabet
  const size = characters.length
  if (size < 2 || new Set(characters).size !== size)
    throw formError("its alphabet must name at least two characters, each once")
  const length = Math.min(room, Math.ceil(HASH_BITS / Math.log2(size)))
  if (!Number.isInteger(length) || length < 1 || length * Math.log2(size) < BITS_MIN) {
    throw formError(`${room} characters of ${size} different ones hold fewer than ${BITS_MIN} bits`)
  }
  if (characters === ALPHABETS["hex"]) return digest.slice(0, length)
  let rest = BigInt(`0x${digest}`)
  const base = BigInt(size)
  let key = ""
  for (let index = 0; index < length; index += 1) {
    key += characters[Number(rest % base)]
    rest /= base
  }
  return key
}

/** The shape of a random UUID (version nibble 4, variant 10), filled from the hash: some providers check the shape. */
function uuid4(digest: string): string {
  const variant = "89ab"[Number.parseInt(digest.charAt(16), 16) % 4] ?? "8"
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

function formError(what: string): InvokeError {
  return new InvokeError("definition_invalid", { happened: `the contract's key cannot carry a provider key: ${what}` })
}
