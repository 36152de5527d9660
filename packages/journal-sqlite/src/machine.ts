/** This machine, as far as it can be told from others and from itself after a restart. */
import { readFileSync } from "node:fs"
import { hostname } from "node:os"

export interface Machine {
  readonly host: string
  /** Another value after every start of the kernel; empty where it cannot be read, and then it proves nothing. */
  readonly boot_id: string
}

export function thisMachine(): Machine {
  return { host: hostname(), boot_id: readBootId() }
}

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  } catch {
    return ""
  }
}
