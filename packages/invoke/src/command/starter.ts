/** The module that `invoke init` writes: a tool with a real effect, so that everything in it can be tried without a network. */
export const STARTER = `// Tools for Invoke. Load them with: invoke call <tool> --tools tools.js --journal invoke.db
// They need: npm install @invokejs/invoke zod
//
// This one writes a note into a folder. It stands for any system outside: a payment, a ticket, a mail. Each part below
// answers a question that decides whether a lost answer is safe:
//
//   identity   What makes two calls the same action? A repeat of one note is the same note, whatever a model calls it.
//   applied    When is it done? "returned": when execute returns, the note is there.
//   probe      How does one look? After a lost answer Invoke looks before anything is sent again.
//   expect     What must be found for the call to count as applied?
//
//   Make a note:         invoke call notes.write --tools tools.js --journal invoke.db --create --params '{"id":"1","text":"hello"}'
//   The same again:      the same command; it replays the result, nothing is written twice
//   What happened:       invoke ops ls --journal invoke.db
//   One of them:         invoke ops show <operation_id> --journal invoke.db
//   Is all well:         invoke doctor --journal invoke.db
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { absent, defineTool, found, id, text } from "@invokejs/invoke"
import { z } from "zod"

const FOLDER = "notes"
const fileOf = (note) => join(FOLDER, \`\${encodeURIComponent(note)}.json\`)

export const writeNote = defineTool({
  name: "notes.write",
  safety: "write-once-checkable",
  input: z.object({ id: z.string().min(1), text: z.string() }),
  identity: (params) => ({ note: id(params.id) }),
  applied: "returned",
  contract: {
    // The note carries the operation's id, so what is found is known to be this operation's own. A local folder shows what
    // was written at once; a system across a network does not: say there how long a request may still take to show.
    lookup: { correlates: "operation", consistency: "strong", maxExecution: "1s", visibility: "0s" },
  },
  async execute({ params, operationId }) {
    await mkdir(FOLDER, { recursive: true })
    await writeFile(fileOf(params.id), JSON.stringify({ ...params, operation_id: operationId }))
    return { file: fileOf(params.id) }
  },
  async probe({ params, operationId }) {
    const note = await readFile(fileOf(params.id), "utf8").then(JSON.parse, (error) => {
      if (error.code === "ENOENT") return null
      throw error
    })
    if (note === null || note.operation_id !== operationId) return absent({ complete: true })
    return found({ id: params.id, operationId, state: { note: note.id, written: true, text: note.text } })
  },
  expect: (params) => ({
    match: { note: id(params.id) },
    effect: { written: true },
    invariant: { text: text(params.text) },
  }),
})

export const tools = [writeNote]
`
