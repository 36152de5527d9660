/** `invoke help [command…]`, which every `--help` becomes: commands explained in 80 columns, or as data with `--json`. */
import { InvokeError } from "@invokejs/protocol"
import type { RouteMap } from "@stricli/core"
import { defineCommand, filled, type Context } from "./define-command.ts"
import { describeCommands, type CommandFact } from "./describe-commands.ts"
import type { Page } from "./page.ts"

const EXIT_CODES = [
  ["0", "the effect is in place; or the command did what it says"],
  ["1", "could not serve, nothing ran; or a check found a fault"],
  ["2", "usage"],
  ["3", "unresolved, or closed without an answer"],
  ["4", "refused, nothing was sent"],
  ["5", "the effect is not in place"],
  ["6", "something else is in place"],
] as const

export function helpCommand(tree: () => RouteMap<Context>) {
  return defineCommand<object, [group: string | undefined, command: string | undefined]>({
    brief: "Explain a command, or all of them",
    flags: {},
    positional: [
      { brief: "The command or group to explain", parse: filled, placeholder: "COMMAND", optional: true },
      { brief: "The command of the group", parse: filled, placeholder: "SUBCOMMAND", optional: true },
    ],
    async run(_run, _flags, ...words) {
      const about = ["invoke", ...words.filter((word) => word !== undefined)].join(" ")
      const all = describeCommands(tree())
      const commands = all.filter(({ command }) => command === about || command.startsWith(`${about} `))
      const [only] = commands
      if (only === undefined) throw unknown(about)
      return {
        exit: 0,
        json: { commands },
        text: (page) => {
          if (only.command === about) explain(page, only)
          else list(page, about, commands)
        },
      }
    },
  })
}

function unknown(about: string): InvokeError {
  return new InvokeError("invalid_request", {
    happened: `there is no command "${about.replace(/^invoke /, "")}"`,
    fix: "Read `invoke --help`.",
    detail: { field: "COMMAND" },
  })
}

function explain(page: Page, { command, does, details, arguments: given, options }: CommandFact): void {
  page.line(usageLine(command, given, options))
  page.line()
  page.say(`${does}.`)
  if (details !== null) {
    page.line()
    page.say(details)
  }
  if (given.length > 0) page.heading("Arguments")
  for (const { argument, does: what } of given) page.entry(argument, what)
  page.heading("Options")
  for (const option of options) {
    const values = option.values === null ? "" : `: ${option.values.join(", ")}`
    page.entry(option.value === null ? option.option : `${option.option} ${option.value}`, `${option.does}${values}`)
  }
}

function usageLine(command: string, given: CommandFact["arguments"], options: CommandFact["options"]): string {
  const places = given.map(({ argument, required }) => (required ? argument : `[${argument}]`))
  const needed = options.filter(({ required }) => required).map(({ option, value }) => `${option} ${value ?? ""}`)
  return [command, ...places, ...needed, "[options]"].join(" ")
}

function list(page: Page, about: string, commands: readonly CommandFact[]): void {
  page.line(`${about} COMMAND [options]`)
  page.heading("Commands")
  for (const { command, does } of commands) page.entry(command.slice(about.length + 1), does)
  if (about !== "invoke") return
  page.heading("Everywhere")
  page.entry("--journal PATH", "The journal's file; default: the environment's INVOKE_JOURNAL")
  page.entry("--json", "Results as JSON on standard output; an error as problem JSON on standard error")
  page.entry("--help", "Explain the command")
  page.entry("--version", "Print the version")
  page.heading("Exit codes")
  for (const [code, meaning] of EXIT_CODES) page.entry(code, meaning)
}
