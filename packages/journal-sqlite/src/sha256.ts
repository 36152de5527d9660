import { createHash, createHmac } from "node:crypto"

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex")
}

export function keyedDigest(key: string, text: string): string {
  return createHmac("sha256", key).update(text, "utf8").digest("hex")
}
