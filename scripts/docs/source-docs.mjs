// @ts-check
// Reads doc comments out of sources and built declarations, so that a reference page says what the code says of itself.
//
// It reads text by the form that the formatter gives it: a comment, and on the next line the name that it is about.

import { readFileSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dirname, "../..")

/** @typedef {{ name: string, optional: boolean, type: string, doc: string }} Member */

/** @param {string} path of the repository */
export function readSource(path) {
  return readFileSync(join(ROOT, path), "utf8")
}

/** The text of a doc comment on one line. @param {string} comment */
function plain(comment) {
  return comment
    .replaceAll(/^\s*\/\*\*|\*\/\s*$/g, "")
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim()
}

/** The body of the first declaration that begins with the words. @param {string} text @param {string} opening */
export function bodyOf(text, opening) {
  const start = text.indexOf(opening)
  if (start === -1) throw new Error(`no declaration begins with: ${opening}`)
  const open = text.indexOf("{\n", start)
  const close = text.indexOf("\n}", open)
  return text.slice(open + 2, close + 1)
}

/** The fields of an interface, in their order. @param {string} path @param {string} opening @returns {Member[]} */
export function fieldsOf(path, opening) {
  const body = bodyOf(readSource(path), opening)
  const indent = /^( +)\S/m.exec(body)?.[1] ?? "  "
  const field = new RegExp(
    `(?:^${indent}(/\\*\\*[\\s\\S]*?\\*/)\\n)?^${indent}readonly (\\w+)(\\??): ([\\s\\S]*?)(?=\\n${indent}(?:readonly|/\\*\\*)|\\n*$(?![\\s\\S]))`,
    "gm",
  )
  return [...body.matchAll(field)].map(([, doc = "", name = "", optional = "", type = ""]) => ({
    name,
    optional: optional === "?",
    type: type.replaceAll(/\s+/g, " ").replaceAll("readonly ", "").replace(/;$/, "").trim(),
    doc: plain(doc),
  }))
}

/** The public methods of a class as its built declaration gives them. @param {string} path @param {string} opening @returns {Member[]} */
export function methodsOf(path, opening) {
  /** @type {Member[]} */
  const members = []
  let [doc, text] = ["", ""]
  for (const line of bodyOf(readSource(path), opening).split("\n")) {
    if (text === "" && /^ {4}\/\*\*.*\*\/$/.test(line)) doc = plain(line)
    else if (line.trim() !== "") text = `${text} ${line.trim()}`.trim()
    if (!text.endsWith(";") || depthOf(text) !== 0) continue
    const [, name = "", signature = ""] = /^((?:static )?\w+)(?:<.*?>(?=\())?(\(.*);$/.exec(text) ?? []
    if (name !== "" && name !== "constructor") {
      const type = signature.replaceAll("readonly ", "").replaceAll("; }", " }")
      members.push({ name, optional: false, type, doc })
    }
    ;[doc, text] = ["", ""]
  }
  return members
}

/** How many brackets are open at the end of the text. @param {string} text */
function depthOf(text) {
  return (text.match(/[({[]/g)?.length ?? 0) - (text.match(/[)}\]]/g)?.length ?? 0)
}

/** The comment over each entry of a constant object. @param {string} path @param {string} opening @returns {Map<string, string>} */
export function entryDocs(path, opening) {
  const body = bodyOf(readSource(path), opening)
  const docs = new Map()
  let doc = ""
  for (const line of body.split("\n")) {
    const comment = /^ {2}(\/\*\*.*\*\/)$/.exec(line)
    const entry = /^ {2}(\w+):/.exec(line)
    if (comment) doc = plain(comment[1] ?? "")
    else if (entry) {
      docs.set(entry[1], doc)
      doc = ""
    }
  }
  return docs
}
