#!/usr/bin/env node
/** The program `invoke`: the one place that reads the process, its environment and its streams. */
import { systemClock } from "@invokejs/engine"
import { Console } from "node:console"
import { readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { text } from "node:stream/consumers"
import { runCommand } from "./command/run-command.ts"

// Standard output holds results. What a tool's module says through `console` goes to standard error.
Object.defineProperty(globalThis, "console", { value: new Console(process.stderr, process.stderr), writable: true })

// Node announces its own SQLite as experimental at every start. Other warnings are told as Node tells them.
const announced = process.listeners("warning")
process.removeAllListeners("warning")
process.on("warning", (warning) => {
  if (warning.name === "ExperimentalWarning" && warning.message.startsWith("SQLite ")) return
  for (const listener of announced) listener(warning)
})

// A reader that has enough (`| head`) is no fault.
process.stdout.on("error", (error: Error & { code?: string }) => {
  if (error.code !== "EPIPE") throw error
  process.exit()
})

const interrupt = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort())

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that no user has.
    return `uid:${process.getuid?.() ?? "unknown"}`
  }
}

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }

process.exitCode = await runCommand(process.argv.slice(2), {
  stdout: (said) => process.stdout.write(said),
  stderr: (said) => process.stderr.write(said),
  stdin: () => text(process.stdin),
  colour: process.stdout.isTTY === true && (process.env["NO_COLOR"] ?? "") === "",
  // Set to nothing is not set.
  journal: process.env["INVOKE_JOURNAL"] || undefined,
  user: userName(),
  folder: process.cwd(),
  clock: systemClock,
  interrupted: interrupt.signal,
  version,
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
})

// A tool's module may hold timers or connections; what was asked for is done, and both streams have taken it.
process.stdout.write("", () => process.stderr.write("", () => process.exit()))
