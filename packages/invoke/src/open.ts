/**
 * `Invoke.open`: the embedded engine on one SQLite file.
 *
 * OP1. There is no default path: two journals are two Invokes, so the application says which one it means.
 */
import {
  Invoke as EmbeddedInvoke,
  systemClock,
  systemIds,
  systemRandom,
  thisMachine,
  type AnyTool,
  type Telemetry,
} from "@invokejs/engine"
import { InvokeError } from "@invokejs/protocol"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { consoleTelemetry, silentTelemetry } from "./console-telemetry.ts"
import { journalFault } from "./journal-fault.ts"

export interface OpenOptions<Tools extends readonly AnyTool[] = readonly AnyTool[]> {
  /** Path of the SQLite file; made if it is not there. */
  readonly journal: string
  readonly tools?: Tools
  /** Part of every provider key, kept in the file from the first open on. Default: the journal's own id. */
  readonly name?: string
  /** `thread` flushes beside the event loop (default); `inline` is faster for a single caller such as a command. */
  readonly mode?: "thread" | "inline"
  readonly driver?: "node:sqlite" | "@photostructure/sqlite"
  /** `"silent"`, a level for standard error, or your own. Default `"info"`. */
  readonly log?: "silent" | "info" | "warn" | "error" | Telemetry
  /** Runs the background loop here. Default true. */
  readonly reconcile?: boolean
}

/** What each option may be, in words for the message. */
const OPTIONS: {
  readonly [option: string]: { readonly expects: string; readonly holds: (value: unknown) => boolean }
} = {
  journal: { expects: "the path of a file", holds: (value) => typeof value === "string" && value.trim() !== "" },
  tools: { expects: "a list of tools", holds: Array.isArray },
  name: { expects: "a string that is not blank", holds: (value) => typeof value === "string" && value.trim() !== "" },
  mode: { expects: '"thread" or "inline"', holds: (value) => value === "thread" || value === "inline" },
  driver: {
    expects: '"node:sqlite" or "@photostructure/sqlite"',
    holds: (value) => value === "node:sqlite" || value === "@photostructure/sqlite",
  },
  log: {
    expects: '"silent", "info", "warn", "error", or an object with log() and count()',
    holds: (value) => (typeof value === "object" ? isTelemetry(value) : LOGS.includes(value)),
  },
  reconcile: { expects: "true or false", holds: (value) => typeof value === "boolean" },
}

const LOGS: readonly unknown[] = ["silent", "info", "warn", "error"]

function isTelemetry(value: unknown): boolean {
  const { log, count } = (value ?? {}) as { readonly log?: unknown; readonly count?: unknown }
  return typeof log === "function" && typeof count === "function"
}

export async function open<const Tools extends readonly AnyTool[] = readonly []>(
  options: OpenOptions<Tools>,
): Promise<EmbeddedInvoke<Tools>> {
  checkOptions(options)
  const telemetry = telemetryOf(options.log ?? "info")
  const journal = await openSqliteJournal({
    path: options.journal,
    mode: options.mode ?? "thread",
    clock: systemClock,
    ids: systemIds,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.driver === undefined ? {} : { driver: options.driver }),
  }).catch((error: unknown) => {
    throw journalFault(error, options.journal)
  })
  try {
    const invoke = await EmbeddedInvoke.on<Tools>({
      journal,
      clock: systemClock,
      random: systemRandom,
      ids: systemIds,
      telemetry,
      machine: thisMachine(),
      ...(options.tools === undefined ? {} : { tools: options.tools }),
      ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile }),
    })
    const { location, journal_id, driver } = journal.identity
    telemetry.log("info", `journal ${location} (${journal_id}, ${driver}); policy: allow`)
    return invoke
  } catch (error) {
    await journal.close()
    throw error
  }
}

function telemetryOf(log: NonNullable<OpenOptions["log"]>): Telemetry {
  if (typeof log !== "string") return log
  return log === "silent" ? silentTelemetry : consoleTelemetry(log)
}

function checkOptions(options: OpenOptions<readonly AnyTool[]>): void {
  const given: unknown = options
  if (typeof given !== "object" || given === null) {
    throw new InvokeError("invalid_request", {
      happened: "Invoke.open takes an object of options",
      fix: 'Write Invoke.open({ journal: "./invoke.db" }).',
      detail: { field: "options" },
    })
  }
  const stray = Object.keys(given).find((name) => !Object.hasOwn(OPTIONS, name))
  if (stray !== undefined) {
    throw new InvokeError("unsupported_option", {
      happened: `Invoke.open has no option ${JSON.stringify(stray)}`,
      fix: `Use one of: ${Object.keys(OPTIONS).join(", ")}.`,
      detail: { option: stray },
    })
  }
  const { journal } = given as { journal?: unknown }
  if (typeof journal !== "string" || journal.trim() === "") {
    throw new InvokeError("invalid_request", {
      happened: "Invoke.open needs the path of its journal, and has no default: two journals are two Invokes",
      fix: 'Write Invoke.open({ journal: "./invoke.db" }).',
      detail: { field: "journal" },
    })
  }
  for (const [name, value] of Object.entries(given)) {
    const option = OPTIONS[name]
    if (value === undefined || !option || option.holds(value)) continue
    throw new InvokeError("invalid_request", {
      happened: `Invoke.open's ${name} is not what it should be`,
      fix: `Pass ${option.expects}.`,
      detail: { field: name },
    })
  }
}
