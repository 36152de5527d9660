/** A writer on the calling thread: the same code as in a thread of its own, for callers that write one thing at a time. */
import type { WriterLink } from "./group-commit.ts"
import type { JournalWriter } from "./journal-writer.ts"

export function inlineLink(writer: JournalWriter): WriterLink {
  return {
    commit: (entries) => {
      const reply = writer.commit(entries)
      writer.checkpoint()
      return Promise.resolve(reply)
    },
    copyTo: (order) => settle(() => writer.copyTo(order)),
    seal: () => {
      try {
        writer.sealIfFree()
      } catch {
        // A sibling that lags is safe; the next write hears what is wrong.
      }
    },
    close: () => settle(() => writer.close()),
    ended: () => false,
    hold: () => undefined,
  }
}

function settle(act: () => void): Promise<void> {
  return new Promise((resolve) => {
    act()
    resolve()
  })
}
