/**
 * What the argument library finds wrong, in our words: one error, with the option that is meant and what to do.
 */
import {
  ArgumentScannerError,
  formatMessageForArgumentScannerError,
  text_en,
  type ApplicationText,
} from "@stricli/core"
import { InvokeError } from "@invokejs/protocol"

type Words = Parameters<typeof formatMessageForArgumentScannerError>[1]

interface Fault {
  readonly option: string | null
  readonly text: string
}

export interface UsageText {
  readonly text: ApplicationText
  /** The one error that says everything that was found, if anything was. */
  readonly error: (help: string) => InvokeError | null
}

/** Collects what is wrong instead of printing it, so that it is told once and in one form. */
export function usageText(words: readonly string[]): UsageText {
  const faults: Fault[] = []
  const broken: unknown[] = []
  const heard = (fault: Fault): string => {
    faults.push(fault)
    return ""
  }
  const failed = (error: unknown): string => {
    broken.push(error)
    return ""
  }
  return {
    text: {
      ...text_en,
      noCommandRegisteredForInput: ({ input, corrections }) =>
        heard({ option: null, text: `there is no command "${input}"${nearest(corrections)}` }),
      exceptionWhileParsingArguments: (error) =>
        error instanceof ArgumentScannerError ? heard(faultOf(error, words)) : failed(error),
      exceptionWhileLoadingCommandFunction: failed,
      exceptionWhileLoadingCommandContext: failed,
      exceptionWhileRunningCommand: failed,
    },
    error(help) {
      if (broken.length > 0) throw broken[0]
      if (faults.length === 0) return null
      const stray = faults.find(({ option }) => option !== null)
      return new InvokeError(stray ? "unsupported_option" : "invalid_request", {
        happened: faults.map(({ text }) => text).join("; "),
        fix: `Read \`${help}\`.`,
        detail: stray ? { option: stray.option } : { field: "command line" },
      })
    },
  }
}

function faultOf(error: ArgumentScannerError, words: readonly string[]): Fault {
  let option: string | null = null
  const text = formatMessageForArgumentScannerError(error, {
    ...wordsOf(words),
    FlagNotFoundError: ({ input, corrections }) => {
      option = `--${input}`
      return `there is no option --${input}${nearest(corrections.map((one) => `--${one}`))}`
    },
    AliasNotFoundError: ({ input }) => {
      option = `-${input}`
      return `there is no option -${input}`
    },
  })
  return { option, text }
}

function wordsOf(words: readonly string[]): Words {
  return {
    ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, exception }) => {
      const why = exception instanceof Error ? exception.message : String(exception)
      return `${/^[A-Z]+$/.test(name) ? name : `--${name}`}: ${why}`
    },
    EnumValidationError: ({ externalFlagName, input, values }) =>
      `--${externalFlagName}: "${input}" is none of ${values.join(", ")}`,
    UnsatisfiedFlagError: ({ externalFlagName: name }) =>
      words.includes(`--${name}`) ? `--${name} has no value` : `--${name} is missing`,
    UnsatisfiedPositionalError: ({ placeholder }) => `${placeholder} is missing`,
    UnexpectedPositionalError: ({ input }) => `"${input}" is one word too many`,
    UnexpectedFlagError: ({ externalFlagName }) => `--${externalFlagName} is given twice`,
    InvalidNegatedFlagSyntaxError: ({ externalFlagName }) => `--${externalFlagName} takes no value`,
  }
}

function nearest(corrections: readonly string[]): string {
  const [first] = corrections
  return first === undefined ? "" : ` (did you mean ${first.replaceAll("`", "")}?)`
}
