/**
 * When the sibling file is brought up to the journal, from one process's side. Called under the write lock only, with the
 * first row as this transaction read it: what that row says is durable (IN1).
 */
import { SEAL_AFTER_MS, siblingOf, writeSibling } from "./incarnation.ts"
import type { Meta } from "./incarnation.ts"
import type { WatchedFile } from "./watched-file.ts"

export class SiblingSeal {
  readonly #file: WatchedFile
  #at = 0
  #commits = -1

  constructor(file: WatchedFile) {
    this.#file = file
  }

  /** Whether the sibling says all that this process has committed. */
  covers(commits: number): boolean {
    return this.#commits === commits
  }

  /** Seals where the last sealing is long enough ago; answers whether the sibling now names exactly this row. */
  refresh(meta: Meta, now: number): boolean {
    // A clock that went back seals as well, rather than wait until it has caught up.
    const due = now - this.#at >= SEAL_AFTER_MS || now < this.#at
    if (due) this.seal(meta, now)
    return due
  }

  seal(meta: Meta, now: number): void {
    if (this.#commits !== meta.commits) writeSibling(this.#file.path, siblingOf(meta, this.#file.inode))
    this.#at = now
    this.#commits = meta.commits
  }
}
