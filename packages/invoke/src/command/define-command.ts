/**
 * One command: its options, its words, and what it answers. Everything that commands have in common is here.
 *
 * DC1. A command answers with a value; whether it is shown as JSON or as text is decided here, and only here.
 * DC2. With `--json` standard output holds results and nothing else. An error is problem JSON on standard error.
 * DC3. The exit code of an answer that is a Result is the Result's own.
 */
import {
  buildCommand,
  type Command,
  type CommandContext,
  type FlagParametersForType,
  type TypedPositionalParameter,
} from "@stricli/core"
import { Page } from "./page.ts"
import type { World } from "./world.ts"

export interface Answer {
  readonly exit: number
  /** What `--json` prints; undefined where the command has printed by itself. */
  readonly json: unknown
  readonly text: (page: Page) => void
}

/** One run of the program. */
export interface Run {
  readonly world: World
  readonly json: boolean
  /** A page for text that is printed while the command goes on. */
  readonly page: () => Page
}

export interface Context extends CommandContext {
  readonly run: Run
  readonly answer: (answer: Answer) => void
  readonly fail: (error: unknown, effect: boolean) => void
}

export interface JsonFlag {
  readonly json: boolean
}

export interface JournalFlag {
  readonly journal?: string
}

type Positionals<Args extends readonly unknown[]> = {
  readonly [K in keyof Args]: TypedPositionalParameter<Args[K], Context>
}

interface CommandSpec<Flags, Args extends readonly unknown[]> {
  readonly brief: string
  readonly details?: string
  /** It may start an effect: when it breaks, nobody may say that nothing ran. */
  readonly effect?: boolean
  readonly flags: FlagParametersForType<Flags, Context>
  readonly positional?: Positionals<Args>
  readonly run: (run: Run, flags: Flags & JsonFlag, ...args: Args) => Promise<Answer>
}

const JSON_FLAG = { kind: "boolean", brief: "Print JSON", withNegated: false } as const

/** Spread into the flags of every command that opens a journal. */
export const JOURNAL_FLAG: FlagParametersForType<JournalFlag, Context> = {
  journal: {
    kind: "parsed",
    parse: filled,
    brief: "The journal's file; default: the environment's INVOKE_JOURNAL",
    placeholder: "PATH",
    optional: true,
  },
}

export function defineCommand<Flags extends object, Args extends readonly unknown[] = []>(
  spec: CommandSpec<Flags, Args>,
): Command<Context> {
  const effect = spec.effect === true
  return buildCommand<object, readonly unknown[], Context>({
    docs: { brief: spec.brief, ...(spec.details === undefined ? {} : { fullDescription: spec.details }) },
    parameters: {
      flags: { ...spec.flags, json: JSON_FLAG },
      positional: { kind: "tuple", parameters: spec.positional ?? [] },
      // The spec's own types have checked what the library's types cannot follow through a generic.
    } as never,
    async func(flags, ...args) {
      try {
        this.answer(await spec.run(this.run, flags as Flags & JsonFlag, ...(args as unknown as Args)))
      } catch (error) {
        this.fail(error, effect)
      }
    },
  })
}

/** A text that says something. */
export function filled(text: string): string {
  if (text.trim() === "") throw new Error("it is empty")
  return text
}
