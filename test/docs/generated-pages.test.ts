// Hunts the reference page that says what the code said last month, and the state table that the code does not keep.

import { ERROR_CODES, errorDocs, VERBS, type Verb } from "@invokejs/protocol"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { madePages, stalePages } from "../../scripts/docs-reference.mjs"
import { onBench } from "../../scripts/docs/bench.mjs"
import { TRIGGERS, UNCAUSED } from "../../scripts/docs/error-triggers.mjs"
import { blocksOf } from "../../scripts/docs/start-blocks.mjs"
import { reconciledResult } from "../../scripts/docs/sample-result.mjs"
import { walkStates } from "../../scripts/docs/state-graph.mjs"
import { page, ROOT } from "./documents.ts"

const made = await madePages()

test("every page that is made from the code says what the code says; `npm run docs` makes it so", () => {
  expect(stalePages(made)).toEqual([])
})

test("a page that differs by a word, and a page of a code that is gone, are stale", () => {
  const changed = new Map(made).set("docs/reference/verbs.md", "# Verbs\n")
  changed.delete(errorDocs("internal"))
  expect(stalePages(changed)).toEqual(["docs/reference/verbs.md", errorDocs("internal")])
})

test("every error names a page that is there", () => {
  expect(ERROR_CODES.filter((code) => !existsSync(join(ROOT, errorDocs(code))))).toEqual([])
})

test("every error code is either caused for the docs or has a sentence that says why it is not", () => {
  const both = ERROR_CODES.filter((code) => (TRIGGERS[code] === undefined) === (UNCAUSED[code] === undefined))
  expect(both).toEqual([])
})

test("the verb table and what transition() does agree, arrow by arrow [ST-4] [item 25]", () => {
  const walked = walkStates().filter(({ kind }) => kind === "verb")
  expect(walked.length).toBeGreaterThan(20)
  const strangers = walked.filter(({ from, by, to }) => {
    const { from: legal, to: ends } = VERBS[by as Verb]
    const begins =
      from === "contradicted" ? by === "amend" : (legal as readonly string[] | null)?.includes(from) === true
    return !begins || !(ends as readonly string[]).includes(to)
  })
  expect(strangers).toEqual([])
  const unwalked = (["allow", "cancel", "resolve", "retry", "amend"] as const).flatMap((verb) =>
    VERBS[verb].to.filter((end) => BUILT_ENDS(verb, end) && !walked.some(({ by, to }) => by === verb && to === end)),
  )
  expect(unwalked).toEqual([])
})

/** `allow` leads on to policy and approval, which are not built. */
const BUILT_ENDS = (verb: Verb, end: string): boolean => verb !== "allow" || end === "ready"

test("the timeline of a lost acknowledgement is the one that the docs show [AU-1]", async () => {
  const path = "docs/concepts/execution-records.md"
  const shown = blocksOf(path, page(path))
    .find(({ info }) => info === "text")
    ?.text.trimEnd()
    .split("\n")
  const lines = await onBench(async (bench) => {
    const { operation_id } = await reconciledResult(bench)
    const invoke = await bench.open()
    return (await invoke.timeline(operation_id)).map(({ type, from, to }) => {
      const states = from === null || from === to ? to : `${from} → ${to}`
      return `${type.padEnd(24)}${states ?? ""}`
    })
  })
  expect(shown).toEqual(lines)
})
