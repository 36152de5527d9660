/** The commands as data, for `invoke help --json`, the reference page, and the tests that ask for a row about each. */
import type { Command, RouteMap } from "@stricli/core"
import type { Context } from "./define-command.ts"

export interface OptionFact {
  readonly option: string
  readonly value: string | null
  readonly values: readonly string[] | null
  readonly required: boolean
  readonly repeatable: boolean
  readonly does: string
}

export interface ArgumentFact {
  readonly argument: string
  readonly required: boolean
  readonly does: string
}

export interface CommandFact {
  readonly command: string
  readonly does: string
  readonly details: string | null
  readonly arguments: readonly ArgumentFact[]
  readonly options: readonly OptionFact[]
}

export function describeCommands(tree: RouteMap<Context>, prefix = "invoke"): readonly CommandFact[] {
  return tree.getAllEntries().flatMap(({ name, target }) => {
    const command = `${prefix} ${name["convert-camel-to-kebab"]}`
    return "getAllEntries" in target ? describeCommands(target, command) : [describe(command, target)]
  })
}

function describe(command: string, { brief, fullDescription, parameters }: Command<Context>): CommandFact {
  const { flags = {}, positional } = parameters
  const given = positional?.kind === "tuple" ? positional.parameters : positional ? [positional.parameter] : []
  return {
    command,
    does: brief,
    details: fullDescription ?? null,
    arguments: given.map((one) => ({
      argument: one.placeholder ?? "",
      required: one.optional !== true,
      does: one.brief,
    })),
    options: Object.entries(flags).map(([name, flag]) => ({
      option: `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      value: flag.kind === "boolean" ? null : (flag.placeholder ?? "VALUE"),
      values: flag.kind === "enum" ? flag.values : null,
      required: flag.optional !== true && flag.kind !== "boolean",
      repeatable: "variadic" in flag && flag.variadic === true,
      does: flag.brief,
    })),
  }
}
