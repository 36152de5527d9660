/** `invoke init`: a starter module of tools. It asks nothing and overwrites nothing. */
import { InvokeError } from "@invokejs/protocol"
import { mkdir, writeFile } from "node:fs/promises"
import { join, relative, resolve } from "node:path"
import { defineCommand, filled } from "./define-command.ts"
import { STARTER } from "./starter.ts"

export const initCommand = defineCommand<object, [folder: string | undefined]>({
  brief: "Write a starter tools.js, with comments that explain it",
  flags: {},
  positional: [{ brief: "Folder; default: this one", parse: filled, placeholder: "DIR", optional: true }],
  async run(run, _flags, folder = ".") {
    const place = resolve(run.world.folder, folder)
    const file = join(place, "tools.js")
    await write(place, file)
    const shown = relative(run.world.folder, file) || "tools.js"
    const next = `invoke call notes.write --tools ${shown} --params '{"id":"1","text":"hello"}' --journal invoke.db --create`
    return {
      exit: 0,
      json: { written: [file], next },
      text: (page) => {
        page.line(`Written: ${shown}`)
        page.line("Next:")
        page.line(`  ${next}`)
        page.line("The same command again replays the result: nothing is written twice.")
      },
    }
  },
})

async function write(folder: string, file: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    // `wx`: an existing file is never overwritten, also not one that appears at this moment.
    await writeFile(file, STARTER, { flag: "wx" })
  } catch (error) {
    const exists = (error as { code?: unknown }).code === "EEXIST"
    const why = error instanceof Error ? error.message : String(error)
    throw new InvokeError("invalid_request", {
      happened: exists ? `${file} is there already, and init overwrites nothing` : `${file} cannot be written: ${why}`,
      fix: "Name another folder: invoke init DIR.",
      detail: { field: "DIR" },
      cause: error,
    })
  }
}
