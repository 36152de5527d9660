// @ts-check
// Markdown by small parts. Whole pages go through the formatter, so nothing here aligns anything.

/** @param {string[]} sources of the repository @param {string} title */
export function pageHead(title, ...sources) {
  return `# ${title}\n\n<!-- Made by \`npm run docs\` from ${sources.join(", ")}. Do not edit. -->\n`
}

/** @param {string[]} head @param {string[][]} rows */
export function table(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.map((one) => cell(one)).join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ")
}

/** @param {unknown} text */
export const code = (text) => `\`${String(text)}\``

/** Where the text itself holds backticks. @param {string} text */
export const span = (text) => (text.includes("`") ? `\`\` ${text} \`\`` : code(text))

/** @param {readonly unknown[]} words */
export const codes = (words) => words.map(code).join(" ")

/** @param {string} language @param {string} text */
export const fence = (language, text) => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``

/** @param {boolean} value */
export const yes = (value) => (value ? "yes" : "no")

const UNITS = /** @type {const} */ ([
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
])

/** Milliseconds as a person writes them. @param {number} ms */
export function duration(ms) {
  const [unit, size] = UNITS.find(([, one]) => ms >= one && ms % one === 0) ?? ["ms", 1]
  return `${ms / size} ${unit}`
}

/** @param {number} bytes */
export const bytes = (bytes) => (bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`)
