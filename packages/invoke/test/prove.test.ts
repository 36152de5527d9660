// Hunts: a guide whose module or output is not what the command does, a finding that does not end in exit 1, a cause without a place to read.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { PROVE_CODES } from "@invokejs/testkit"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Stage } from "./command-stage.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))
const GUIDE = readFileSync(join(ROOT, "docs/guides/prove.md"), "utf8")

interface Proof {
  readonly ok: boolean
  readonly complete: boolean
  readonly figures: { readonly cases: number; readonly findings: number; readonly cases_with_findings: number }
  readonly tools: readonly {
    readonly tool: string
    readonly causes: readonly { readonly code: string; readonly cases: readonly string[] }[]
    readonly cases: readonly { readonly case: string; readonly verdict: string; readonly schedule: readonly string[] }[]
  }[]
}

let stage: Stage

beforeAll(() => {
  stage = new Stage()
  // As after an install: modules import packages by their names.
  mkdirSync(join(stage.folder, "node_modules"), { recursive: true })
  for (const name of ["@invokejs", "zod"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(stage.folder, "node_modules", name))
  }
  writeFileSync(join(stage.folder, "package.json"), '{ "type": "module" }')
  stage.file("tools.js", block("js tools.js"))
  stage.file("fixed.js", patched(block("js tools.js"), block("diff")))
  stage.file("stripe.js", block("js stripe.js"))
})

afterAll(() => stage.close())

/** The n-th code block of that language. */
function block(language: string, n = 0): string {
  const found = [...GUIDE.matchAll(/```([^\n]+)\n([\s\S]*?)```/g)].filter(([, name]) => name === language)[n]?.[2]
  if (found === undefined) throw new Error(`the guide has no block ${n} of ${language}`)
  return found
}

/** The text with what the diff's lines say: each run of `-` and `+` lines is one replacement after the line before it. */
function patched(text: string, diff: string): string {
  const before: string[] = []
  const after: string[] = []
  for (const line of diff.split("\n").slice(0, -1)) {
    if (!line.startsWith("+")) before.push(line.slice(1))
    if (!line.startsWith("-")) after.push(line.slice(1))
  }
  const old = before.join("\n")
  if (!text.includes(old)) throw new Error("the diff does not fit the module")
  return text.replace(old, after.join("\n"))
}

/** Times of a schedule are those of one run. */
const timeless = (text: string): string => text.replaceAll(/\d+(\.\d+)? (s|min|h)\b/g, "TIME").replaceAll(/ +/g, " ")

describe("the guide's module", () => {
  test("has the findings that the guide prints, and ends with 1 [AU-9]", async () => {
    const { code, stdout, stderr } = await stage.run(["prove", "tools.js"])
    expect(stderr).toBe("")
    expect(code).toBe(1)
    const [shown = "", figure = ""] = block("text").split("\n…\n")
    expect(timeless(stdout)).toContain(timeless(shown.trim()))
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(figure.trim())
  })

  test("has none once the guide's two lines are changed, and ends with 0 [AU-9]", async () => {
    const { code, stdout } = await stage.run(["prove", "fixed.js"])
    expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([0, block("text", 1).trim()])
  })

  test("is told as JSON with every case and its schedule [AU-9]", async () => {
    const args = ["prove", "tools.js", "--tool", "pay_invoice", "--only", "status.500", "--only", "crash"]
    const { code, value } = await stage.json<Proof>(args)
    expect(code).toBe(1)
    expect(value).toMatchObject({
      ok: false,
      complete: true,
      figures: { cases: 5, findings: 1, cases_with_findings: 1 },
    })
    const [tool] = value.tools
    expect(tool?.causes).toMatchObject([{ code: "returns_on_error", cases: ["status.500_before"] }])
    expect(tool?.cases.map((one) => one.case)).toEqual([
      "clean",
      "status.500_before",
      "status.500_after",
      "crash.before_send",
      "crash.after_effect",
    ])
    for (const one of tool?.cases ?? []) expect(one.schedule.length).toBeGreaterThan(2)
  })
})

test("the guide's module for a stand-in at a URL is proved, each request at the stand-in's own process [AU-9]", async () => {
  const { code, stdout } = await stage.run(["prove", "stripe.js", "--only", "answer.lost"])
  expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([0, "3 cases, 0 findings, 0 at a limit, 0 not tried."])
})

test("every cause that the prover names has its place in the guide, and the guide names no other [AU-9]", () => {
  const places = [...GUIDE.matchAll(/^### (\w+)$/gm)].map(([, code = ""]) => code)
  expect(places.toSorted()).toEqual([...PROVE_CODES].toSorted())
})

test("a module that breaks while it is loaded is refused with exit 2, and nothing runs [AU-9]", async () => {
  stage.file("broken.js", "throw new Error('no such file')\n")
  const { code, stderr } = await stage.run(["prove", "broken.js"])
  expect(code).toBe(2)
  expect(stderr).toContain("cannot be loaded: no such file")
})
