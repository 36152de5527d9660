/** `invoke backup`: the only safe way to copy a journal that is in use (protocol §11). */
import { InvokeError } from "@invokejs/protocol"
import { existsSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { withJournal } from "./session.ts"

export const backupCommand = defineCommand<JournalFlag, [target: string]>({
  brief: "Write a consistent copy of the journal to a new file",
  details:
    "May run while the journal is in use. The copy is another incarnation: opened as a journal it is in quarantine until a " +
    "person has said what was lost since.",
  flags: { ...JOURNAL_FLAG },
  positional: [{ brief: "File to write; must not be there", parse: filled, placeholder: "TARGET" }],
  async run(run, flags, target) {
    const place = resolve(run.world.folder, target)
    if (existsSync(place))
      throw badTarget(`${place} is there already, and a backup overwrites nothing`, "Name a new file.")
    if (!existsSync(dirname(place))) {
      throw badTarget(`the folder ${dirname(place)} is not there`, "Name a file in a folder that is.")
    }
    return withJournal(run, flags, async (journal) => {
      const { location, bytes } = await journal.backup(place)
      return {
        exit: 0,
        json: { location, bytes, journal_id: journal.identity.journal_id },
        text: (page) => {
          page.fact("backup", location)
          page.fact("bytes", bytes)
          page.line()
          page.say("Opened as a journal it is in quarantine until `invoke quarantine lift`.")
        },
      }
    })
  },
})

function badTarget(happened: string, fix: string): InvokeError {
  return new InvokeError("invalid_request", { happened, fix, detail: { field: "TARGET" } })
}
