/**
 * Which life of the journal this is (R24): the file says it in a row, and a sibling file beside it says it again together
 * with the file's inode and how far the file had come.
 *
 * Owns: the sibling file and the judgement about it. Must not: be asked outside the write lock.
 *
 * IN1. The sibling is written under the write lock and describes a state that is already durable in the file. So it may
 *      lag (a crash leaves it behind, which is safe: the file is ahead of it) and is never ahead; a file that is behind
 *      its sibling has gone back in time.
 * IN2. What the lag costs: a file restored in place within `SEAL_AFTER_MS` of the last sealing, to a state no older than
 *      that sealing, is not seen as restored. Copies made by `backup` carry another incarnation and are always seen.
 * IN3. At the first open the sibling comes first (`new`), then the file's row, then the sibling again (`live`): a crash
 *      in between is told from a lost file.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs"

import type { StatementCache } from "./statement-cache.ts"

/** How long the sibling may lag behind the file. One flush a second is nothing beside the commits it describes. */
export const SEAL_AFTER_MS = 1_000

export interface Sibling {
  readonly format: 1
  readonly state: "new" | "live"
  readonly journal_id: string
  readonly name: string
  readonly incarnation: string
  readonly inode: string
  readonly commits: number
  readonly high_water: number
  readonly last_event_id: string | null
}

export interface Meta {
  readonly journal_id: string
  readonly name: string
  readonly incarnation: string
  readonly high_water: number
  readonly commits: number
  readonly last_event_id: string | null
  readonly quarantined: number
}

export interface Break {
  readonly reason: string
  readonly detail: string
}

export function siblingPath(path: string): string {
  return `${path}-incarnation`
}

export function readSibling(path: string): Sibling | "missing" | "unreadable" {
  let text: string
  try {
    text = readFileSync(siblingPath(path), "utf8")
  } catch (error) {
    return (error as { code?: string }).code === "ENOENT" ? "missing" : "unreadable"
  }
  try {
    const value = JSON.parse(text) as Partial<Sibling> | null
    const whole = value?.format === 1 && typeof value.incarnation === "string" && typeof value.commits === "number"
    return whole ? (value as Sibling) : "unreadable"
  } catch {
    return "unreadable"
  }
}

/** Replaces the sibling in one step: a crash leaves the old one or the new one. */
export function writeSibling(path: string, sibling: Sibling): void {
  const target = siblingPath(path)
  const draft = `${target}.draft`
  const file = openSync(draft, "w", 0o600)
  try {
    writeSync(file, `${JSON.stringify(sibling)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, target)
}

export function readMeta(db: StatementCache): Meta | undefined {
  return db.get<Meta>(
    "SELECT journal_id, name, incarnation, high_water, commits, last_event_id, quarantined FROM meta WHERE id = 1",
  )
}

export function siblingOf(meta: Meta, inode: string): Sibling {
  const { journal_id, name, incarnation, commits, high_water, last_event_id } = meta
  return { format: 1, state: "live", journal_id, name, incarnation, inode, commits, high_water, last_event_id }
}

/** Whether the file is in the life its sibling knows. null: it is. */
export function judgeIncarnation(
  sibling: Sibling | "missing" | "unreadable",
  meta: Meta,
  inode: string,
  isKnown: (event_id: string) => boolean,
): Break | null {
  if (sibling === "missing") {
    return { reason: "sibling_missing", detail: "the file that names this journal's incarnation is not beside it" }
  }
  if (sibling === "unreadable") {
    return { reason: "sibling_unreadable", detail: "the file that names this journal's incarnation cannot be read" }
  }
  if (sibling.incarnation !== meta.incarnation) {
    const detail = `the file is incarnation ${meta.incarnation}, its sibling says ${sibling.incarnation}`
    return { reason: "other_incarnation", detail }
  }
  if (sibling.state === "new") return null
  if (sibling.inode !== inode) {
    return { reason: "file_replaced", detail: `the file is inode ${inode}, its sibling says ${sibling.inode}` }
  }
  if (sibling.commits > meta.commits || sibling.high_water > meta.high_water) {
    const detail =
      `the file has ${meta.commits} commits up to ${meta.high_water}, ` +
      `its sibling has seen ${sibling.commits} up to ${sibling.high_water}`
    return { reason: "went_back", detail }
  }
  if (sibling.last_event_id !== null && !isKnown(sibling.last_event_id)) {
    return { reason: "other_history", detail: `the file does not know the write ${sibling.last_event_id}` }
  }
  return null
}
