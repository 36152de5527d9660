// Hunts: a lie of a tool that the prover believes, and a finding whose words name the wrong cause.
import { proveTools, type CaseReport } from "@invokejs/testkit"
import { describe, expect, test } from "vitest"
import { BAD_TOOLS, badModule } from "./prover-bad-tools.ts"

const isFinding = ({ verdict }: CaseReport) => !["ok", "limit", "not_tried"].includes(verdict)

describe("a tool that", () => {
  test.each(BAD_TOOLS)("$what is found, with its cause and what to do [AU-9]", async (bad) => {
    const [report] = await proveTools(badModule(bad), { only: bad.only ?? [] })
    const cases = report?.cases ?? []
    const found = cases.find((one) => one.case === bad.in)
    expect(found).toMatchObject({ verdict: bad.verdict, code: bad.code, see: `docs/guides/prove.md#${bad.code}` })
    expect(`${found?.happened} ${found?.do}`).toMatch(bad.says)
    expect(found?.schedule.join("\n")).toMatch(/an effect|effects so far/)
    // Nothing beside it is blamed for something that it did not do.
    const causes = new Set(cases.filter(isFinding).map(({ code }) => code))
    expect([...causes].filter((code) => code !== bad.code && !(bad.also ?? []).includes(code ?? ""))).toEqual([])
  })
})
