/**
 * An open journal for the time of one command, and an engine on it where the command needs one.
 *
 * SE1. A command never makes a journal by mistake: a file that is not there is refused unless the command may make it. Two
 *      journals are two Invokes, and a mistyped path would do everything again.
 * SE2. One journal, opened once, closed whatever happens (R25).
 * SE3. What only reads opens no engine, so it writes nothing to operations.
 */
import {
  Invoke,
  JournalError,
  systemIds,
  systemRandom,
  thisMachine,
  type AnyTool,
  type Journal,
} from "@invokejs/engine"
import { openSqliteJournal } from "@invokejs/journal-sqlite"
import { InvokeError } from "@invokejs/protocol"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { silentTelemetry } from "../console-telemetry.ts"
import type { JournalFlag, Run } from "./define-command.ts"
import { journalProblem } from "./failure.ts"

export interface Session {
  readonly journal: Journal
  readonly invoke: Invoke
}

export interface EngineWish {
  readonly tools?: readonly AnyTool[]
  /** Runs the background loop while the command lasts. Default: where tools are given. */
  readonly reconcile?: boolean
  /** The journal is made where it is not there. */
  readonly create?: boolean
}

export async function withJournal<T>(run: Run, flags: JournalFlag, use: (journal: Journal) => Promise<T>): Promise<T> {
  const journal = await openJournal(run, flags, false)
  try {
    return await use(journal)
  } finally {
    await journal.close()
  }
}

export async function withInvoke<T>(
  run: Run,
  flags: JournalFlag,
  wish: EngineWish,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const journal = await openJournal(run, flags, wish.create === true)
  let invoke: Invoke
  try {
    invoke = await engineOn(run, journal, wish)
  } catch (error) {
    await journal.close()
    throw error
  }
  try {
    return await use({ journal, invoke })
  } finally {
    await invoke.close()
  }
}

export function journalPath(run: Run, flags: JournalFlag): string {
  const path = flags.journal ?? run.world.journal
  if (path !== undefined && path.trim() !== "") return resolve(run.world.folder, path)
  throw new InvokeError("invalid_request", {
    happened: "no journal is named, and there is no default: two journals are two Invokes",
    fix: "Pass --journal PATH, or set INVOKE_JOURNAL.",
    detail: { field: "journal" },
  })
}

export async function openJournal(run: Run, flags: JournalFlag, create: boolean): Promise<Journal> {
  const path = journalPath(run, flags)
  if (!create && !existsSync(path)) {
    throw new InvokeError("invalid_request", {
      happened: `there is no journal at ${path}`,
      fix: "Check the path. A new journal is made by `invoke call --create`, or by the application that opens it.",
      detail: { field: "journal", location: path },
    })
  }
  try {
    return await openSqliteJournal({ path, mode: "inline", clock: run.world.clock, ids: systemIds })
  } catch (error) {
    throw error instanceof JournalError ? journalProblem(error) : error
  }
}

function engineOn(run: Run, journal: Journal, { tools = [], reconcile = tools.length > 0 }: EngineWish) {
  return Invoke.on<readonly AnyTool[]>({
    journal,
    tools,
    clock: run.world.clock,
    random: systemRandom,
    ids: systemIds,
    telemetry: silentTelemetry,
    machine: thisMachine(),
    reconcile,
  })
}
