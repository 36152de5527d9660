/** Options that several commands share, and the forms their values are written in. */
import { durationMs } from "@invokejs/engine"
import { DEFAULTS } from "@invokejs/protocol"
import type { FlagParametersForType } from "@stricli/core"
import { filled, type Context } from "./define-command.ts"
import type { World } from "./world.ts"

export function duration(text: string): number {
  const ms = durationMs(/^\d+$/.test(text) ? undefined : text)
  if (ms === null) throw new Error(`"${text}" is not a length of time; write it like "90d", "12h", "5m" or "20s"`)
  return ms
}

/** A wait may also be none at all. */
export function waitTime(text: string): number {
  return text === "0" ? 0 : duration(text)
}

export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`
    throw new Error(`"${text}" is not a whole number ${range}`)
  }
}

export const pageLimit = wholeNumber(1, DEFAULTS.page_max)

/** `name<separator>value`, both there; the value may hold the separator again. */
export function pair(separator: string): (text: string) => readonly [string, string] {
  return (text) => {
    const at = text.indexOf(separator)
    if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)]
    throw new Error(`"${text}" is not name${separator}value`)
  }
}

export interface ActorFlag {
  readonly as?: string
}

export const ACTOR_FLAG: FlagParametersForType<ActorFlag, Context> = {
  as: {
    kind: "parsed",
    parse: filled,
    brief: "Who does it, for the record; default: your user name",
    placeholder: "NAME",
    optional: true,
  },
}

export function actorOf(world: World, flags: ActorFlag): string {
  return flags.as ?? world.user
}

export interface ToolFlags {
  readonly tools?: string
  readonly wait?: number
}

/** For verbs that a process with the tool carries on: this one, where it is given the tool. */
export const TOOL_FLAGS: FlagParametersForType<ToolFlags, Context> = {
  tools: {
    kind: "parsed",
    parse: filled,
    brief: "Module that exports `tools`; this process then carries it on",
    placeholder: "FILE.js",
    optional: true,
  },
  wait: {
    kind: "parsed",
    parse: waitTime,
    brief: "How long to wait for it to settle; default 60s with --tools, else 0",
    placeholder: "TIME",
    optional: true,
  },
}

export function waitOf(flags: ToolFlags): number {
  return flags.wait ?? (flags.tools === undefined ? 0 : DEFAULTS.wait_ms)
}
