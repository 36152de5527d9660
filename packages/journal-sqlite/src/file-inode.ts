/** Asks which file a path names, without opening it: opening a journal's files drops the locks of its own process (R25). */
import { statSync } from "node:fs"

/** Inode and device as text, or null where nothing is there. */
export function inodeOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : stat.ino.toString()
}
