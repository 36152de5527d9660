/**
 * The text form of an answer: facts, paragraphs and lines in 80 columns.
 *
 * PG1. What others wrote (a provider, a tool, a journal's reader) cannot steer the terminal: control characters are shown as
 *      escapes, whatever line they stand in.
 * PG2. Ids and commands are never cut; prose is wrapped.
 */
import { styleText } from "node:util"
import { COLUMNS, wrap } from "../demo/narrator.ts"

const LABEL = 16
const TERM = 22

/** C0 and C1 controls, line separators, and the characters that turn the direction of text. */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

export function printable(text: string): string {
  return text.replace(STEERING, escapeOf)
}

/** JSON for people and programs. What could steer a terminal is escaped, which changes no value. */
export function jsonText(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent).replace(STEERING, (one) => (one === "\n" ? one : escapeOf(one)))
}

function escapeOf(one: string): string {
  return `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`
}

export class Page {
  readonly #colour: boolean
  readonly #lines: string[] = []

  constructor(colour: boolean) {
    this.#colour = colour
  }

  get text(): string {
    return this.#lines.map((line) => `${line}\n`).join("")
  }

  line(text = ""): void {
    this.#lines.push(printable(text))
  }

  heading(text: string): void {
    if (this.#lines.length > 0) this.line()
    this.#lines.push(this.#colour ? styleText("bold", printable(text)) : printable(text))
  }

  /** A paragraph. */
  say(text: string, indent = 0): void {
    for (const line of wrap(text, COLUMNS - indent)) this.line(`${" ".repeat(indent)}${line}`)
  }

  /** A name and its value; nothing where there is no value. */
  fact(name: string, value: string | number | null, indent = 0): void {
    if (value === null) return
    const first = `${" ".repeat(indent)}${name.padEnd(LABEL)}`
    wrapWhole(String(value), COLUMNS - first.length).forEach((line, index) => {
      this.line(`${index === 0 ? first : " ".repeat(first.length)}${line}`.trimEnd())
    })
  }

  /** A term and what it means, for lists of commands and options. */
  entry(term: string, meaning: string): void {
    const first = `  ${term.padEnd(TERM)}`
    const own = first.length > TERM + 4
    if (own) this.line(first)
    wrap(meaning, COLUMNS - TERM - 2).forEach((line, index) => {
      this.line(`${index === 0 && !own ? first : " ".repeat(TERM + 2)}${line}`)
    })
  }

  /** Rows under their titles, each column as wide as it must be; the last one is never padded. */
  table(titles: readonly string[], rows: readonly (readonly string[])[]): void {
    const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
    for (const row of [titles, ...rows]) {
      this.line(
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd(),
      )
    }
  }
}

/** As `wrap`, but a word that is longer than the line stays whole, so that it can be copied (PG2). */
function wrapWhole(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(/\s+/)) {
    const longer = line === "" ? word : `${line} ${word}`
    if (line !== "" && longer.length > width) {
      lines.push(line)
      line = word
    } else {
      line = longer
    }
  }
  return [...lines, line]
}
