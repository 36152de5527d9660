/** What the demo prints: at most 80 columns, plain when piped or with NO_COLOR, one check line per act. */
import { styleText } from "node:util"

export const COLUMNS = 80

export interface Screen {
  readonly write: (text: string) => void
  readonly colour: boolean
}

export class Narrator {
  readonly #screen: Screen
  #failures = 0

  constructor(screen: Screen) {
    this.#screen = screen
  }

  get failures(): number {
    return this.#failures
  }

  act(number: number, title: string): void {
    this.line("")
    this.line(this.#style("bold", `Act ${number}. ${title}`))
  }

  heading(title: string): void {
    this.line("")
    this.line(this.#style("bold", title))
  }

  /** A paragraph, wrapped. */
  say(text: string): void {
    for (const line of wrap(text, COLUMNS - 2)) this.line(`  ${line}`)
  }

  fact(name: string, value: string): void {
    const lines = wrap(value, COLUMNS - 29)
    lines.forEach((line, index) => this.line(`    ${(index === 0 ? name : "").padEnd(25)}${line}`))
  }

  /** The act's own check: what the provider's ledger has to say. */
  check(holds: boolean, text: string): void {
    if (!holds) this.#failures += 1
    const mark = holds ? this.#style("green", "holds") : this.#style("red", "FAILS")
    const [first = "", ...rest] = wrap(text, COLUMNS - 10)
    this.line(`  ${mark}   ${first}`)
    for (const line of rest) this.line(`          ${line}`)
  }

  line(text: string): void {
    this.#screen.write(`${text}\n`)
  }

  #style(format: "bold" | "green" | "red", text: string): string {
    return this.#screen.colour ? styleText(format, text) : text
  }
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ""
    }
    line = line === "" ? word : `${line} ${word}`
    while (line.length > width) {
      lines.push(line.slice(0, width))
      line = line.slice(width)
    }
  }
  if (line !== "" || lines.length === 0) lines.push(line)
  return lines
}

export function dollars(cents: number): string {
  return `$${(cents / 100).toLocaleString("en-US", { minimumFractionDigits: 0 })}`
}
