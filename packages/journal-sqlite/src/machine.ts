/**
 * This machine, as far as it can be told from others and from itself after a restart.
 *
 * MA1. Names are reused: a container that is made again on another machine has the same hostname, and often the same machine id,
 *      baked into its image. Only a machine of its own, with an id of its own, proves by a new boot that an old process is gone.
 */
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { hostname } from "node:os"

export interface Machine {
  /** Empty where the machine cannot be told from others; then a new boot of it proves nothing. */
  readonly host: string
  /** Another value after every start of the kernel; empty where it cannot be read, and then it proves nothing. */
  readonly boot_id: string
}

export function thisMachine(): Machine {
  return {
    host: machineOf({ id: readFirst("/etc/machine-id"), contained: inContainer() }),
    boot_id: readFirst(BOOT_ID),
  }
}

const BOOT_ID = "/proc/sys/kernel/random/boot_id"

export function machineOf(facts: { readonly id: string; readonly contained: boolean }): string {
  if (facts.id === "" || facts.contained) return ""
  return createHash("sha256").update(`invoke-machine:${facts.id}:${hostname()}`).digest("hex").slice(0, 32)
}

/** Said by container runtimes in files, and by the control groups of this process. Where nobody can say, it counts as one. */
function inContainer(): boolean {
  if (existsSync("/.dockerenv") || existsSync("/run/.containerenv")) return true
  const groups = readFirst("/proc/1/cgroup")
  return groups === "" || /docker|kubepods|containerd|lxc|podman|libpod/.test(groups)
}

function readFirst(path: string): string {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    return ""
  }
}
