// @ts-check
// `node scripts/cli-reference.mjs`: writes docs/reference/cli.md from what the built command says about itself.
// With `--check` it changes nothing and exits 1 where the page is stale.

import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const PAGE = join(ROOT, "docs/reference/cli.md")

/**
 * @typedef {{ argument: string, required: boolean, does: string }} ArgumentFact
 * @typedef {{ option: string, value: string | null, values: string[] | null, required: boolean, repeatable: boolean, does: string }} OptionFact
 * @typedef {{ command: string, does: string, details: string | null, arguments: ArgumentFact[], options: OptionFact[] }} CommandFact
 */

const OPENING = `# The \`invoke\` command

This page is written by \`node scripts/cli-reference.mjs\` from the command itself; a test fails when it is stale.

- The journal is named by \`--journal PATH\` or by the environment's \`INVOKE_JOURNAL\`. There is no default, and no command
  makes a journal by mistake: only \`invoke call --create\` makes one. Two journals are two Invokes.
- Tools come from a module that is named with \`--tools FILE.js\` and exports a list \`tools\` (or has it as its default
  export). Nothing is searched for. While such a command runs, its process is a worker for these tools.
- Standard output holds results, standard error holds what went wrong. With \`--json\` standard output is one JSON document,
  or nothing; an error is problem JSON (RFC 9457, with \`code\` and \`exit\`) on standard error. \`ops watch --json\` prints one
  JSON document on each line. What a tool's module prints through \`console\` goes to standard error.
- Text is at most 80 columns wide, but for ids and commands, which are never cut. It is plain when it is piped or
  \`NO_COLOR\` is set. Control characters in what others wrote are shown as escapes.
- No command asks a question. An interrupt ends the waiting of a command, never an operation.

## Exit codes

A command whose answer is a Result (\`call\`, \`ops watch ID\` and the verbs of \`ops\`) exits with the Result's own code: it
says what is true of the operation, so \`ops cancel\` that worked exits with 4, because nothing was sent. Whether a verb was
taken shows on the streams: a Result on standard output, or an error on standard error.

| code | meaning |
| --- | --- |
| 0 | the effect is in place; or the command did what it says |
| 1 | could not serve, nothing ran; or a check found a fault (\`audit verify\`, \`doctor\`, \`demo\`) |
| 2 | usage |
| 3 | unresolved, or closed without an answer |
| 4 | refused, nothing was sent |
| 5 | the effect is not in place |
| 6 | something else is in place |
`

/** @param {CommandFact} fact */
function section(fact) {
  const places = fact.arguments.map(({ argument, required }) => (required ? argument : `[${argument}]`))
  const needed = fact.options.filter(({ required }) => required).map(({ option, value }) => `${option} ${value}`)
  const lines = [
    `## ${fact.command}`,
    "",
    `${fact.does}.`,
    "",
    "```sh",
    [fact.command, ...places, ...needed, "[options]"].join(" "),
    "```",
    "",
  ]
  if (fact.details !== null) lines.push(fact.details, "")
  for (const { argument, does } of fact.arguments) lines.push(`- \`${argument}\`: ${does}`)
  for (const { option, value, values, required, does } of fact.options) {
    const list = values === null ? "" : `: ${values.map((one) => `\`${one}\``).join(", ")}`
    lines.push(
      `- \`${value === null ? option : `${option} ${value}`}\`${required ? " (required)" : ""}: ${does}${list}`,
    )
  }
  return `${lines.join("\n")}\n`
}

function page() {
  const told = spawnSync(process.execPath, [join(ROOT, "packages/invoke/dist/bin.js"), "help", "--json"], {
    encoding: "utf8",
    env: {},
  })
  if (told.status !== 0) throw new Error(`invoke help --json exits with ${told.status}: ${told.stderr}`)
  /** @type {{ commands: CommandFact[] }} */
  const { commands } = JSON.parse(told.stdout)
  return [OPENING, ...commands.map(section)].join("\n")
}

/** The page as the formatter leaves it. @param {string} text */
function formatted(text) {
  const done = spawnSync(process.execPath, [join(ROOT, "node_modules/oxfmt/bin/oxfmt"), "--stdin-filepath", PAGE], {
    input: text,
    encoding: "utf8",
    cwd: ROOT,
  })
  if (done.status !== 0) throw new Error(`the page cannot be formatted: ${done.stderr}`)
  return done.stdout
}

const text = formatted(page())
if (process.argv.includes("--check")) {
  let found = ""
  try {
    found = readFileSync(PAGE, "utf8")
  } catch {
    // Not there: stale.
  }
  if (found !== text) {
    console.error("docs/reference/cli.md is stale: run `npm run build && node scripts/cli-reference.mjs`")
    process.exitCode = 1
  }
} else {
  mkdirSync(dirname(PAGE), { recursive: true })
  writeFileSync(PAGE, text)
}
