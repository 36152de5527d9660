/** Which machine and process this is. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { hostname, uptime } from "node:os"
import { pid } from "node:process"
import type { Machine } from "../dispatch/worker.ts"

export function thisMachine(): Machine {
  return { host: machineId(), boot_id: bootId(), pid }
}

function machineId(): string {
  const id = firstFile(["/etc/machine-id", "/var/lib/dbus/machine-id"])
  return id === null
    ? hostname()
    : createHash("sha256").update(`invoke-host:${id}:${hostname()}`).digest("hex").slice(0, 32)
}

/** Changes with every boot. Where the system does not say, the hour of the boot. */
function bootId(): string {
  return (
    firstFile(["/proc/sys/kernel/random/boot_id"]) ??
    `up-${Math.floor((performance.timeOrigin / 1_000 - uptime()) / 3_600)}`
  )
}

function firstFile(paths: readonly string[]): string | null {
  for (const path of paths) {
    try {
      const text = readFileSync(path, "utf8").trim()
      if (text !== "") return text
    } catch {
      // Not on this system: the next one.
    }
  }
  return null
}
