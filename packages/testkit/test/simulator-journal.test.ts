// Hunts a journal in memory that is kinder than the one on SQLite: what a simulation proves on it would prove nothing.
import { journalConformance } from "@invokejs/testkit"
import { memorySubject, withheldCases } from "@invokejs/testkit/internal"
import { describe, expect, test } from "vitest"

describe("the journal in memory", () => {
  test.each(journalConformance(memorySubject))("$name", ({ run }) => run())
})

test("only the cases that need other processes are withheld from it [AU-10]", () => {
  const withheld = withheldCases(memorySubject)
  expect(new Set(withheld.map(({ needs }) => needs))).toEqual(new Set(["processes"]))
  expect(withheld).toHaveLength(5)
})
