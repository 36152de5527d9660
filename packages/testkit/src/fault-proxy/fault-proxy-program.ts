#!/usr/bin/env node
/**
 * The fault proxy as a process, for clients that are not written in JavaScript:
 * `invoke-fault-proxy '{"target": "http://127.0.0.1:4242", "script": []}'`. It prints `{"port": n}`, then takes
 * one JSON command a line and answers each with one line, and ends when its standard input closes.
 */
import process from "node:process"
import { createInterface } from "node:readline"
import type { Fault, FaultRule } from "./fault.ts"
import { FaultProxy, type FaultProxyOptions } from "./fault-proxy.ts"

type Command =
  | { readonly command: "script"; readonly rules: readonly FaultRule[]; readonly otherwise?: Fault }
  | { readonly command: "retarget"; readonly target: string }
  | { readonly command: "release"; readonly id?: string }
  | { readonly command: "report" }

async function obey(proxy: FaultProxy, command: Command): Promise<unknown> {
  switch (command.command) {
    case "script":
      proxy.script(command.rules, command.otherwise)
      return {}
    case "retarget":
      proxy.retarget(command.target)
      return {}
    case "release":
      return proxy.release(command.id)
    case "report":
      return { counters: proxy.counters(), record: proxy.record(), held: proxy.held() }
    default:
      throw new Error("a command is script, retarget, release or report")
  }
}

function say(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function errorLine(error: unknown): { readonly error: string } {
  return { error: error instanceof Error ? error.message : String(error) }
}

const [options] = process.argv.slice(2)
if (options === undefined) {
  process.stderr.write(`usage: invoke-fault-proxy '{"target": "http://127.0.0.1:4242", "script": []}'\n`)
  process.exit(2)
}
const proxy = await FaultProxy.start(JSON.parse(options) as FaultProxyOptions)
say({ port: proxy.port })
for await (const line of createInterface({ input: process.stdin })) {
  try {
    say(await obey(proxy, JSON.parse(line) as Command))
  } catch (error) {
    say(errorLine(error))
  }
}
await proxy.close()
process.exit(0)
