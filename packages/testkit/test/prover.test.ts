// Hunts: a prover that blames a tool that tells the truth, that counts a case which never happened, or that says nothing an author can use.
import { absent } from "@invokejs/engine"
import { InvokeError } from "@invokejs/protocol"
import { causesOf, figureLine, figuresOf, groupsOf, proveTools, type CaseReport } from "@invokejs/testkit"
import { describe, expect, test } from "vitest"
import { charge, moduleOf, payTool, Payments, type Bill } from "./prover-fakes.ts"
import { GOOD_TOOLS } from "./prover-good-tools.ts"

async function casesOf(module: ReturnType<typeof moduleOf>, only: readonly string[] = []) {
  const [report] = await proveTools(module, { only })
  if (!report) throw new Error("nothing was proved")
  return report.cases
}

const isGood = ({ verdict }: CaseReport) => verdict === "ok" || verdict === "limit"

describe("a tool that tells the truth about itself", () => {
  test.each(GOOD_TOOLS)("$what: nothing is found, and every case takes place [AU-9]", async ({ module, limits }) => {
    const cases = await casesOf(module)
    expect(cases.filter((one) => !isGood(one))).toEqual([])
    expect(cases.filter(({ verdict }) => verdict === "limit")).toHaveLength(limits)
    expect(cases.length).toBeGreaterThanOrEqual(30)
  })

  test("what a network repeats is a limit where no key protects, and none where one does [AU-9]", async () => {
    const cases = await casesOf(moduleOf(payTool()), ["repeat.delivered"])
    expect(cases.map(({ case: id, verdict, code }) => [id, verdict, code])).toEqual([
      ["clean", "ok", null],
      ["repeat.delivered_twice", "limit", "repeated_by_network"],
      ["repeat.delivered_twice_at_once", "limit", "repeated_by_network"],
    ])
  })

  test("a process that dies between the charge and its record leaves one charge and a settled operation [AU-9] [CS-5]", async () => {
    const [, crashed] = await casesOf(moduleOf(payTool()), ["crash.after_effect"])
    expect(crashed).toMatchObject({ verdict: "ok", state: "succeeded" })
    expect(crashed?.schedule.join("\n")).toMatch(/gone[\s\S]*a look finds ch_1[\s\S]*succeeded/)
  })
})

describe("a case that does not happen", () => {
  test("is not tried, and says why, where the effect request goes somewhere else each time [AU-9]", async () => {
    let made = 0
    const elsewhere = payTool((url) => ({
      execute: (call: Parameters<typeof charge>[1]) => charge(`${url}/${(made += 1)}`, call),
    }))
    const [, lost] = await casesOf(moduleOf(elsewhere), ["answer.lost_rst"])
    expect(lost).toMatchObject({ verdict: "not_tried", code: "not_hit" })
    expect(lost?.happened).toContain("could not be made to happen")
  })

  test("is not tried where the module gives no other parameters, and no second fake [AU-9]", async () => {
    let only: Payments | null = null
    const module = moduleOf(payTool(), {
      params: { invoice: "84721", amount: 1 },
      provider: (world) => (only ??= new Payments(world)),
    })
    const entry = (module["prove"] as { pay: { other?: unknown } }).pay
    delete entry.other
    const cases = await casesOf(module, ["look.behind", "stranger.other"])
    expect(cases.map(({ verdict, happened }) => [verdict, happened])).toEqual([
      ["ok", null],
      ["not_tried", "`provider` gives one fake again and again, so nothing shows the world before"],
      ["not_tried", "`prove` gives no `other` parameters"],
    ])
  })
})

describe("a call that fails without any fault", () => {
  test("is the only finding: nothing else is tried [AU-9]", async () => {
    const broken = payTool(() => ({
      execute: () => Promise.reject(new Error("no route")),
      probe: () => absent({ complete: true }),
    }))
    const cases = await casesOf(moduleOf(broken))
    expect(cases).toHaveLength(1)
    expect(cases[0]).toMatchObject({ case: "clean", verdict: "wrong_class", code: "clean_call_fails" })
  })

  test("says what the schema refused [AU-9]", async () => {
    const strict = payTool(() => ({
      input: {
        "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "no such bill" }] }) },
      },
    }))
    const [clean] = await casesOf(moduleOf(strict))
    expect(clean).toMatchObject({ verdict: "wrong_class", code: "call_refused" })
  })
})

describe("a module", () => {
  const faults: readonly [string, { readonly [name: string]: unknown }, RegExp][] = [
    ["without prove", { tools: payTool() }, /exports no `prove`.*Write: export const prove/s],
    [
      "with a list of tools",
      { ...moduleOf(payTool()), tools: [] },
      /exports `tools` as a list.*tools = \(\{ url \}\)/s,
    ],
    ["with another tool", moduleOf(payTool(() => ({ name: "collect" }))), /makes no tool pay.*It makes: collect/s],
    ["with a stray option", moduleOf(payTool(), { param: {} } as object), /no option `param`.*Use: params/s],
    [
      "without a count",
      moduleOf(payTool(), { provider: () => ({ handle: () => ({}) }) as never }),
      /no fake that counts/,
    ],
    ["with params that are no JSON", moduleOf(payTool(), { params: undefined as never }), /no `params` that are JSON/],
  ]
  test.each(faults)("%s is refused with what to write [AU-9]", async (_what, module, words) => {
    const error: unknown = await proveTools(module).catch((thrown: unknown) => thrown)
    expect(InvokeError.is(error, "config_invalid")).toBe(true)
    expect((error as Error).message).toMatch(words)
  })

  test("is asked only for the tools that are named [AU-9]", async () => {
    const error: unknown = await proveTools(moduleOf(payTool()), { tools: ["refund"] }).catch(
      (thrown: unknown) => thrown,
    )
    expect((error as Error).message).toMatch(/no `prove` for refund.*It has: pay/s)
  })
})

test("the summary counts causes once and cases each [AU-9]", async () => {
  const returns = payTool((url) => ({
    execute: async ({ params, signal }: { params: Bill; signal: AbortSignal }) =>
      (await fetch(`${url}/charges`, { method: "POST", body: JSON.stringify(params), signal })).text(),
  }))
  const reports = await proveTools(moduleOf(returns), { only: ["status", "repeat.delivered"] })
  const [report] = reports
  if (!report) throw new Error("nothing was proved")
  expect(figuresOf(reports)).toMatchObject({
    cases: 13,
    findings: 1,
    cases_with_findings: 5,
    limits: 2,
    not_tried: 0,
    ok: 6,
  })
  expect(figureLine(reports)).toBe("13 cases, 1 finding (in 5 cases), 2 at a limit, 0 not tried")
  expect(causesOf(report).map(({ code, cases }) => [code, cases.length])).toEqual([
    ["returns_on_error", 5],
    ["repeated_by_network", 2],
  ])
  expect(groupsOf(report)).toContainEqual({ group: "status", cases: 10, ok: 5, findings: 5, limits: 0, not_tried: 0 })
})
