/**
 * The program: words in, an exit code out.
 *
 * RC1. One run prints one answer on standard output or one error on standard error, never both; streaming commands print lines.
 * RC2. The exit codes are those of the result table and the error registry; the argument library's own never leave here.
 */
import { run as runApplication, type Command, type RouteMap } from "@stricli/core"
import { application, commandTree, GROUP_DEFAULTS } from "./app.ts"
import type { Answer, Context, Run } from "./define-command.ts"
import { failureOf } from "./failure.ts"
import { jsonText, Page } from "./page.ts"
import { usageText } from "./usage-text.ts"
import type { World } from "./world.ts"

export async function runCommand(argv: readonly string[], world: World): Promise<number> {
  const json = optionsOf(argv).includes("--json")
  if (json && isVersion(argv)) {
    world.stdout(`${jsonText({ version: world.version }, 2)}\n`)
    return 0
  }
  let exit: number | null = null
  const page = (): Page => new Page(world.colour)
  const fail = (error: unknown, effect: boolean): void => {
    const failure = failureOf(error, effect)
    exit = failure.exit
    world.stderr(json ? `${jsonText(failure.problem, 2)}\n` : `invoke: ${failure.message}\n`)
  }
  const answer = (given: Answer): void => {
    exit = given.exit
    if (json && given.json !== undefined) world.stdout(`${jsonText(given.json, 2)}\n`)
    if (json) return
    const shown = page()
    given.text(shown)
    world.stdout(shown.text)
  }
  const run: Run = { world, json, page }
  const tree = commandTree()
  const words = helpWords(tree, withGroupDefault(argv))
  const usage = usageText(words)
  // The library's own messages are collected in `usage`; only the version is printed by it.
  const silent = { write: () => undefined }
  const context: Context = { process: { stdout: { write: world.stdout }, stderr: silent }, run, answer, fail }
  try {
    await runApplication(application(tree, world.version, usage.text), words, context)
    const error = usage.error(helpFor(tree, words))
    if (error) fail(error, false)
  } catch (error) {
    fail(error, true)
  }
  return exit ?? 0
}

/** What stands before `--`: after it, words are arguments. */
function optionsOf(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--")
  return end === -1 ? argv : argv.slice(0, end)
}

function isVersion(argv: readonly string[]): boolean {
  return argv[0] === "--version" || argv[0] === "-v" || (argv[0] === "--json" && argv[1] === "--version")
}

/** `invoke ops --open` reads as `invoke ops ls --open`. */
function withGroupDefault(argv: readonly string[]): readonly string[] {
  const [group = "", next] = argv
  const command = Object.hasOwn(GROUP_DEFAULTS, group) ? GROUP_DEFAULTS[group] : undefined
  if (command === undefined || (next !== undefined && !next.startsWith("-"))) return argv
  return next === "--help" || next === "-h" ? argv : [group, command, ...argv.slice(1)]
}

/** The command or group that the words name, and whether it is a group. */
function routeOf(tree: RouteMap<Context>, words: readonly string[]) {
  const known: string[] = []
  let target: Command<Context> | RouteMap<Context> = tree
  for (const word of words) {
    const next: Command<Context> | RouteMap<Context> | undefined =
      "getAllEntries" in target ? target.getRoutingTargetForInput(word) : undefined
    if (next === undefined) break
    target = next
    known.push(word)
  }
  return { known, group: "getAllEntries" in target }
}

/** `ops show --help`, `ops --help` and `audit` alone read as `help ops show`, `help ops` and `help audit`. */
function helpWords(tree: RouteMap<Context>, words: readonly string[]): readonly string[] {
  const { known, group } = routeOf(tree, words)
  const options = optionsOf(words)
  const asked = options.includes("--help") || options.includes("-h")
  const bare = group && words.every((word, index) => index < known.length || word === "--json")
  if (!asked && !bare) return words
  return ["help", ...known, ...(options.includes("--json") ? ["--json"] : [])]
}

function helpFor(tree: RouteMap<Context>, words: readonly string[]): string {
  return ["invoke", ...routeOf(tree, words).known, "--help"].join(" ")
}
