// Hunts a definition that contradicts itself or says too little and still runs: a charge nobody can look up, a value that means
// nothing, a probe that confirms a stranger's object. And defaults that promise more than the author did.

import { DEFAULTS, InvokeError, id, text } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import {
  absent,
  compileTool,
  defineTool,
  describeDuration,
  describeTool,
  durationMs,
  fenced,
  guardTool,
  nearName,
  validateTools,
} from "./tool-exports.ts"
import type { CompiledTool } from "./tool-exports.ts"

type Options = Record<string, unknown>

const input = z.object({ invoice: z.string() })
const probe = () => absent({ complete: true })
const expectation = () => ({ match: { invoice: id("1") }, effect: { paid: true } })
const key = { sentAs: "header:Idempotency-Key", retention: "24h" }
const proved = { date: "2026-05-31", against: "the sandbox" }
const run = () => null

const irreversible: Options = { name: "pay", safety: "irreversible", input, applied: "returned", execute: run }
const checkable: Options = {
  ...irreversible,
  safety: "write-once-checkable",
  probe,
  expect: expectation,
  contract: { lookup: { correlates: "operation" } },
}
const readOnly: Options = { name: "look", safety: "read-only", input, execute: run }

function define(definition: Options) {
  return defineTool(definition as unknown as Parameters<typeof defineTool>[0])
}

function guard(options: Options) {
  return guardTool(run, {
    name: "pay",
    identity: () => ({ invoice: id("1") }),
    applied: "returned",
    ...options,
  } as never)
}

function compiled(definition: Options): CompiledTool {
  return compileTool(define(definition))
}

function errorOf(act: () => unknown): InvokeError {
  try {
    act()
  } catch (error) {
    if (error instanceof InvokeError) return error
    throw error
  }
  throw new Error("nothing was refused")
}

const without = (definition: Options, ...options: readonly string[]): Options =>
  Object.fromEntries(Object.entries(definition).filter(([option]) => !options.includes(option)))

const CONTRADICTIONS: readonly (readonly [name: string, definition: Options, code: string, fix: string])[] = [
  ["write-once-checkable without a probe", without(checkable, "probe", "expect"), "definition_invalid", "probe: async"],
  ["write-once-checkable without expect", without(checkable, "expect"), "expect_missing", "expect: (p) =>"],
  ["expect without a probe", { ...irreversible, expect: expectation }, "definition_invalid", "probe: async"],
  ["an irreversible tool with a probe", { ...checkable, safety: "irreversible" }, "definition_invalid", "write-once"],
  ["a read-only tool with a probe", { ...readOnly, probe, expect: expectation }, "definition_invalid", "write-once"],
  ["a read-only tool that applies", { ...readOnly, applied: "returned" }, "definition_invalid", "Remove them"],
  ["a read-only tool with a contract", { ...readOnly, contract: {} }, "definition_invalid", "Remove them"],
  ["journaled on a tool that always is", { ...irreversible, journaled: true }, "definition_invalid", "journaled"],
  ["idempotent without a key", { ...irreversible, safety: "idempotent" }, "definition_invalid", "sentAs"],
  ["no word about what returning means", without(irreversible, "applied"), "applied_missing", 'applied: "returned"'],
  [
    "two different words about it",
    { ...irreversible, contract: { applied: "outcome" } },
    "definition_invalid",
    "Keep one",
  ],
  ["2xx on an opaque tool", { ...irreversible, applied: "2xx" }, "definition_invalid", 'transport: "invoke"'],
  [
    "an effect request on an opaque tool",
    { ...irreversible, contract: { effect: { method: "POST", path: "/" } } },
    "definition_invalid",
    'transport: "invoke"',
  ],
  ["a probe without cause", { ...checkable, contract: {} }, "probe_without_cause", 'correlates: "operation"'],
  [
    "a state looked up without a resource",
    { ...checkable, contract: { lookup: { correlates: "state" } } },
    "resource_missing",
    "resource: (p)",
  ],
  ["exclusive of nothing", { ...irreversible, contract: { exclusive: true } }, "definition_invalid", "resource: (p)"],
  [
    "shared objects without an operation id",
    { ...checkable, contract: { shared: true, lookup: { correlates: "created" } } },
    "definition_invalid",
    'correlates: "operation"',
  ],
  ["a fence that no contract explains", { ...checkable, fence: () => fenced() }, "definition_invalid", "tombstone"],
  [
    "a contract's fence that nobody writes",
    { ...checkable, contract: { lookup: { correlates: "operation" }, fence: { kind: "tombstone" } } },
    "definition_invalid",
    "fence: async",
  ],
  [
    "a fence without a probe",
    { ...irreversible, safety: "idempotent", contract: { key, fence: { kind: "tombstone" } }, fence: () => fenced() },
    "definition_invalid",
    "probe: async",
  ],
  ["an identity version of nothing", { ...irreversible, identityVersion: "2" }, "definition_invalid", "identity: (p)"],
  [
    "an earlier identity under the version of today",
    { ...irreversible, identity: run, identityVersions: { "1": run } },
    "definition_invalid",
    'identityVersion: "2"',
  ],
  ["a name that was its own", { ...irreversible, was: ["pay"] }, "definition_invalid", "was: ["],
  [
    "an attempt longer than all of them",
    { ...irreversible, timeout: "2h", deadline: "1h" },
    "definition_invalid",
    "deadline",
  ],
  [
    "a key too short to tell actions apart",
    { ...irreversible, safety: "idempotent", contract: { key: { ...key, maxLength: 16 } } },
    "definition_invalid",
    "maxLength",
  ],
]

describe("a definition that contradicts itself is refused where it is written", () => {
  test.each(CONTRADICTIONS)("%s [AU-12]", (_name, definition, code, fix) => {
    const error = errorOf(() => define(definition))
    expect(error.code).toBe(code)
    expect(error.detail["tool"]).toBe(definition["name"])
    expect(error.message).toContain(`ool "${String(definition["name"])}": `)
    expect(error.message).toContain(fix)
  })

  test("the definitions that the rows above break are right", () => {
    for (const definition of [irreversible, checkable, readOnly]) define(definition)
  })

  test("a consequential probe is refused when neither id, creation time nor resource can be its cause [R4]", () => {
    const { lookup: _lookup, ...contract } = compiled(checkable).contract
    const blind = { ...compiled(checkable), contract }
    expect(errorOf(() => validateTools([blind])).code).toBe("probe_without_cause")
    expect(compiled({ ...checkable, contract: {}, resource: () => "issue:1" }).contract.lookup?.correlates).toBe(
      "state",
    )
  })

  test("guard says the same: applied and identity are the author's words [R3] [AU-12]", () => {
    expect(errorOf(() => guard({ applied: undefined })).code).toBe("applied_missing")
    expect(errorOf(() => guard({ identity: undefined })).detail["path"]).toBe("identity")
    expect(errorOf(() => guard({ applied: "2xx" })).detail["path"]).toBe("transport")
    expect(errorOf(() => guard({ contract: { lookup: { correlates: "state" } }, probe })).code).toBe("resource_missing")
  })
})

describe("the tools of one engine", () => {
  test("one name leads to one tool, now and before [R21]", () => {
    const named = (name: string, ...was: readonly string[]) =>
      compiled({ ...irreversible, name, ...(was.length > 0 ? { was } : {}) })
    validateTools([named("pay"), named("mail", "post")])
    for (const pair of [
      [named("pay"), named("pay")],
      [named("pay"), named("mail", "pay")],
      [named("pay", "charge"), named("mail", "charge")],
      [named("mail", "post"), named("post")],
    ]) {
      expect(errorOf(() => validateTools(pair)).code).toBe("duplicate_tool")
    }
  })

  test("a tool that came by another door is held to the same rules", () => {
    const tool = compiled(checkable)
    expect(errorOf(() => validateTools([{ ...tool, probe: null }])).detail["path"]).toBe("probe")
    const fence = () => Promise.resolve({ kind: "unsure" as const, reason: "x" })
    expect(errorOf(() => validateTools([{ ...tool, fence }])).detail["path"]).toBe("contract.fence")
  })

  test("a plain object is no tool", () => {
    for (const nothing of [{ ...irreversible }, null, "pay"]) {
      expect(errorOf(() => compileTool(nothing as never)).message).toContain("defineTool({ … })")
    }
  })
})

describe("defaults are pessimistic", () => {
  test("what a contract does not say protects nothing and shortens nothing [item 17]", () => {
    const { contract } = compiled({
      ...checkable,
      contract: { key: { sentAs: "body:id" }, lookup: { correlates: "created" } },
    })
    expect(contract.key).toEqual({
      sent_as: "body:id",
      replay: "executes",
      in_flight: "races",
      replays_errors: true,
      on_mismatch: "ignores",
    })
    expect(contract.lookup).toEqual({
      correlates: "created",
      consistency: "bounded",
      max_execution_ms: DEFAULTS.max_execution_ms,
      visibility_ms: DEFAULTS.visibility_ms,
      negatives: DEFAULTS.negatives,
      spacing_ms: 60_000,
      resolution_ms: 1_000,
      skew_ms: DEFAULTS.skew_ms,
      creation_time: true,
    })
    expect({ ...contract, key: null, lookup: null }).toEqual({
      applied: "returned",
      key: null,
      lookup: null,
      has_resource: false,
      exclusive: false,
      shared: false,
      many: false,
      timeout_ms: DEFAULTS.timeout_ms,
      attempts: DEFAULTS.attempts,
      deadline_ms: DEFAULTS.deadline_ms,
      settle_by_ms: DEFAULTS.settle_by_ms,
    })
    expect(compiled(irreversible).contract.attempts).toBe(DEFAULTS.attempts_irreversible)
    expect(compiled(irreversible).contract.lookup).toBe(undefined)
  })

  test("what the author says is taken over with its units", () => {
    const tool = compiled({
      ...checkable,
      version: "7",
      was: ["charge", "charge_card"],
      timeout: "1.5s",
      deadline: "2h",
      attempts: 5,
      wait: 0,
      repeatWindow: "7d",
      settleBy: 500,
      retryOnRepeat: false,
      allowPrivate: true,
      transport: "invoke",
      resource: () => "invoice:1",
      contract: {
        definite: [402],
        key: { ...key, inFlight: "refuses", replay: "stored", answersForKey: [409], proved },
        lookup: { correlates: "state", consistency: "strong", visibility: "10m", negatives: 3, skew: 0 },
        exclusive: true,
        many: true,
        effect: { method: "PUT", path: "/v1/:id" },
      },
    })
    expect(tool).toMatchObject({
      version: "7",
      namespace: "charge",
      aliases: ["charge", "charge_card"],
      transport: "invoke",
    })
    expect(tool).toMatchObject({
      repeat_window_ms: 604_800_000,
      wait_ms: 0,
      retry_on_repeat: false,
      allow_private: true,
    })
    expect(tool.contract).toMatchObject({ timeout_ms: 1_500, deadline_ms: 7_200_000, attempts: 5, settle_by_ms: 500 })
    expect(tool.contract).toMatchObject({ definite: [402], has_resource: true, exclusive: true, many: true })
    expect(tool.contract.key).toMatchObject({
      retention_ms: 86_400_000,
      in_flight: "refuses",
      replay: "stored",
      proved,
    })
    expect(tool.contract.lookup).toMatchObject({ consistency: "strong", spacing_ms: 600_000, negatives: 3, skew_ms: 0 })
  })

  test("guard: a probe makes it checkable, none makes it irreversible [AU-12]", () => {
    expect(compileTool(guard({}))).toMatchObject({
      safety: "irreversible",
      checkable: false,
      probe: null,
      transport: "opaque",
    })
    const checked = compileTool(guard({ probe }))
    expect(checked).toMatchObject({ safety: "write-once-checkable", checkable: true })
    expect(checked.contract.lookup).toMatchObject({
      correlates: "created",
      consistency: "bounded",
      creation_time: true,
    })
    expect(compileTool(guard({ probe, resource: () => "r" })).contract.lookup?.correlates).toBe("state")
    expect(checked.journaled).toBe(true)
    expect(compiled(readOnly).journaled).toBe(false)
    expect(compiled({ ...readOnly, journaled: true }).journaled).toBe(true)
  })
})

test("the start line says what is believed, and what an unknown outcome leads to [item 17]", () => {
  expect(describeTool(compileTool(guard({})))).toBe(
    "pay v1: irreversible, opaque, no probe: an unknown outcome goes to a person at once",
  )
  expect(describeTool(compiled(readOnly))).toBe("look v1: read-only, opaque, changes nothing")
  const idempotent: Options = { ...irreversible, safety: "idempotent", transport: "invoke", contract: { key } }
  expect(describeTool(compiled(idempotent))).toContain("key header:Idempotency-Key not believed: no conformance proof")
  expect(describeTool(compiled(idempotent))).toContain("goes to a person at once")
  const believed = describeTool(compiled({ ...idempotent, contract: { key: { ...key, proved } } }))
  expect(believed).toContain("Invoke's transport, no probe: beyond its key's protection")
  expect(believed).toContain("key header:Idempotency-Key believed for 1d (proved 2026-05-31 against the sandbox)")
  const forgetful = { ...idempotent, contract: { key: { sentAs: "body:id", proved } } }
  expect(describeTool(compiled(forgetful))).toContain("key body:id protects nothing: no retention declared")
  const searching = { ...checkable, contract: { lookup: { correlates: "created", consistency: "search" } } }
  expect(describeTool(compiled(searching))).toContain("a search that never proves absence")
})

test("a length of time has a unit, and nothing else is one", () => {
  expect(["30s", "1.5m", "2h", "7d", "250ms", 5, 0].map(durationMs)).toEqual([
    30_000, 90_000, 7_200_000, 604_800_000, 250, 5, 0,
  ])
  for (const bad of [
    "30",
    "",
    "s",
    "1e3s",
    "-1s",
    " 1s",
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 60,
    null,
    undefined,
  ]) {
    expect(durationMs(bad)).toBe(null)
  }
  expect([90_000, 86_400_000, 1_500, 0].map(describeDuration)).toEqual(["90s", "1d", "1500ms", "0ms"])
})

test("a near name is one that a slip of the hand makes", () => {
  const known = ["timeout", "maxExecution", "retryOnRepeat"]
  expect(
    ["timeot", "tiemout", "TIMEOUT", "max_execution", "M-A-X-EXECUT-I-O-N", "retry_on_repaet"].map((name) =>
      nearName(name, known),
    ),
  ).toEqual(["timeout", "timeout", "timeout", "maxExecution", "maxExecution", "retryOnRepeat"])
  expect([nearName("approval", known), nearName("", known), nearName("x", ["y"])]).toEqual([null, null, null])
})

describe("identity", () => {
  const invoice = (p: { invoice?: string }) => ({ invoice: id(p.invoice as string) })
  const byBoth = (p: { invoice?: string }) => ({ ...invoice(p), kind: text("charge") })

  test("declared fields, normalised, under every registered version, newest first [ID-3] [ID-12] [R21]", () => {
    const tool = compiled({
      ...irreversible,
      identity: byBoth,
      identityVersion: "2",
      identityVersions: { "1": invoice },
    })
    expect(tool.identify({ invoice: " 84721 " })).toEqual([
      { fields: { invoice: "84721", kind: "charge" }, version: "2" },
      { fields: { invoice: "84721" }, version: "1" },
    ])
    expect(compiled(irreversible).identify({})).toEqual([])
    expect(compiled(irreversible).intent({})).toBe(null)
    expect(compiled({ ...irreversible, intent: byBoth }).intent({ invoice: "1" })).toEqual({
      invoice: "1",
      kind: "charge",
    })
  })

  test("several earlier versions stand newest first", () => {
    const versions = { first: invoice, second: invoice }
    const tool = compiled({ ...irreversible, identity: invoice, identityVersion: "third", identityVersions: versions })
    expect(tool.identify({ invoice: "1" }).map(({ version }) => version)).toEqual(["third", "second", "first"])
  })

  test.each([
    ["a part is missing", () => ({ invoice: undefined })],
    ["a part is missing inside a normaliser", () => ({ invoice: id(undefined as unknown as string) })],
    ["a template wrote an absent value", () => ({ invoice: id(`${undefined}`) })],
    ["a part has no type", () => ({ invoice: "84721" })],
    ["there are no fields", () => ({})],
    ["it is no object of fields", () => id("84721")],
    ["the author's function throws", () => (null as unknown as { a: { b: object } }).a.b],
  ])("%s: invalid_params, and nothing has a name [ID-3]", (_name, identity) => {
    const error = errorOf(() => compiled({ ...irreversible, identity }).identify({}))
    expect(error.code).toBe("invalid_params")
    expect(error.nothingRan).toBe(true)
    expect(errorOf(() => compiled({ ...irreversible, intent: identity }).intent({})).code).toBe("invalid_params")
  })

  test("an older version that cannot be made stops the call too: its operations could not be found [R21]", () => {
    const older = (p: { period?: string }) => ({ period: id(p.period as string) })
    const tool = compiled({
      ...irreversible,
      identity: invoice,
      identityVersion: "2",
      identityVersions: { "1": older },
    })
    const error = errorOf(() => tool.identify({ invoice: "1" }))
    expect(error.message).toContain("identity version 1")
  })

  test("a resource with a missing part names nothing", () => {
    const tool = compiled({ ...irreversible, resource: (p: { n?: number }) => `issue:${p.n}` })
    expect(tool.resource({ n: 7 })).toBe("issue:7")
    expect(errorOf(() => tool.resource({})).code).toBe("invalid_params")
  })
})
