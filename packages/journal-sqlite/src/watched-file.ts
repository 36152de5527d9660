/**
 * Whether the path still names the file that was opened (R25). A journal that was moved away takes commits that nobody
 * will find, and answers with what is no longer so.
 */
import { inodeOf } from "./file-inode.ts"
import { StoreFailure } from "./store-failure.ts"

export class WatchedFile {
  readonly path: string
  readonly inode: string
  /** The log lives as long as any connection does, so that it too must stay the same file. */
  #log: string | null = null

  constructor(path: string, inode: string) {
    this.path = path
    this.inode = inode
  }

  /** Asks about names only; the files are not opened. */
  check(): void {
    const found = inodeOf(this.path)
    const log = inodeOf(`${this.path}-wal`)
    this.#log ??= log
    if (found === this.inode && log !== null && log === this.#log) return
    const what = found === null || log === null ? "was deleted" : "was replaced"
    throw new StoreFailure("journal_replaced", `${this.path} ${what} while it was open`)
  }
}
