/** SHA-256 of a text's UTF-8 bytes, in lower-case hex. */
import { createHash } from "node:crypto"

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex")
}
