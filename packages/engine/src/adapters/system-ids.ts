/** Ids and randomness from the machine. */
import { randomBytes } from "node:crypto"
import { V7Generator, uuidv7 } from "uuidv7"
import type { Ids } from "../ports/ids.ts"
import type { Random } from "../ports/random.ts"

const generator = new V7Generator()

export const systemIds: Ids = {
  operation: (now_ms) => generator.generateOrResetWithTs(Math.max(0, Math.floor(now_ms))).toString(),
  event: () => uuidv7(),
  token: () => randomBytes(18).toString("base64url"),
  worker: () => uuidv7(),
}

export const systemRandom: Random = {
  unit: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
}
