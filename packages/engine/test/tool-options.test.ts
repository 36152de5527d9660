// Hunts an option that is taken for a protection and does nothing: mistyped, misplaced, not built, or of the wrong kind.

import { InvokeError } from "@invokejs/protocol"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import {
  absent,
  CONTRACT_OPTIONS,
  DEFINED_OPTIONS,
  defineTool,
  EFFECT_OPTIONS,
  FENCE_OPTIONS,
  fenced,
  GUARD_OPTIONS,
  guardTool,
  KEY_OPTIONS,
  LOOKUP_OPTIONS,
  PROOF_OPTIONS,
  SOURCE_OPTIONS,
  UNBUILT,
} from "./tool-exports.ts"

type Options = Record<string, unknown>

const proved = { date: "2026-05-31", against: "the sandbox" }
const key = { sentAs: "header:Idempotency-Key", retention: "24h", proved }
const fence = { kind: "tombstone", permanent: true, proved }
const lookup = { correlates: "operation", maxExecution: "2m" }
const effect = { method: "POST", path: "/v1/charges" }
const source = { url: "https://example.test/docs", date: "2026-05-31", says: "keys are kept for 24 hours" }
const contract = { key, fence, lookup, effect, sources: [source] }

const whole: Options = {
  name: "billing.charge",
  safety: "idempotent",
  transport: "invoke",
  input: z.object({ invoice: z.string() }),
  applied: "2xx",
  contract,
  execute: () => null,
  probe: () => absent({ complete: true }),
  expect: () => ({ effect: { paid: true } }),
  fence: () => fenced(),
}

const guarded: Options = { name: "billing.charge", identity: () => ({}), applied: "returned" }

function define(definition: unknown): void {
  defineTool(definition as Parameters<typeof defineTool>[0])
}

function guard(options: unknown): void {
  guardTool(() => null, options as Parameters<typeof guardTool>[1])
}

function errorOf(run: () => void): InvokeError {
  try {
    run()
  } catch (error) {
    if (error instanceof InvokeError) return error
    throw error
  }
  throw new Error("nothing was refused")
}

/** `contract.key.retention` set to `value` in a definition that is right otherwise. */
function withOption(path: string, value: unknown): Options {
  const copy = structuredCloneOf(whole)
  const steps = path.split(".")
  const last = steps.pop() ?? ""
  let place = copy
  for (const step of steps) place = place[step] as Options
  place[last] = value
  return copy
}

function structuredCloneOf(value: Options): Options {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "contract" || isPlain(member) ? structuredCloneOf(member as Options) : member,
    ]),
  )
}

function isPlain(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

test("the definition that the rows below break is right", () => {
  define(whole)
  guard(guarded)
})

const BAD: readonly (readonly [option: string, ...values: readonly unknown[]])[] = [
  ["name", "", "1charge", "charge customer", "charge/customer", "charge.", "ü", "a".repeat(65), 7],
  ["version", "", 2],
  ["safety", "careful", "", null, "approval-bound"],
  ["was", "", [], ["ok", "not ok"], 7],
  ["description", "", 7],
  ["input", {}, null, () => null, { "~standard": { version: 2, validate: () => null } }],
  ["jsonSchema", [], "object"],
  ["identity", { invoice: "x" }, "invoice"],
  ["identityVersion", 2, ""],
  ["identityVersions", { "1": "x" }, []],
  ["intent", {}],
  ["contract", [], "stripe"],
  ["applied", "status", true, 200],
  ["transport", "opaque", "http", true],
  ["classify", {}],
  ["resource", "issue:1"],
  ["execute", {}, undefined],
  ["probe", {}, null],
  ["expect", { paid: true }],
  ["fence", true],
  ["timeout", "30", "-1s", -1, 0, 1.5, "1 s", "soon", Number.NaN, Number.POSITIVE_INFINITY, "2d"],
  ["deadline", "24", 0, "400d"],
  ["attempts", 0, -1, 1.5, 101, "3"],
  ["wait", "60", -1],
  ["repeatWindow", "a day", -1],
  ["settleBy", 0, "72"],
  ["retryOnRepeat", "yes", 1],
  ["allowPrivate", "yes"],
  ["journaled", "yes"],
  ["contract.applied", "status", () => true],
  ["contract.definite", [408], [500], [502], [504], [399], [600], ["402"], 402],
  ["contract.key", [], "header"],
  ["contract.lookup", []],
  ["contract.fence", true],
  ["contract.exclusive", "yes"],
  ["contract.shared", 1],
  ["contract.many", "yes"],
  ["contract.effect", "POST /v1/charges"],
  ["contract.sources", {}, ["https://example.test"]],
  ["contract.key.sentAs", undefined, "Idempotency-Key", "header:", "header: x", "cookie:x"],
  ["contract.key.retention", "1 day", 0, -1],
  ["contract.key.replay", "returns"],
  ["contract.key.inFlight", "queues"],
  ["contract.key.replaysErrors", "no"],
  ["contract.key.onMismatch", "errors"],
  ["contract.key.scope", ""],
  ["contract.key.maxLength", 8, 513, "64"],
  ["contract.key.alphabet", ""],
  ["contract.key.answersForKey", [99], ["409"], 409],
  ["contract.key.coveredHeaders", [""], "Stripe-Account"],
  ["contract.key.proved", true, "2026-05-31"],
  ["contract.lookup.correlates", "key", ""],
  ["contract.lookup.consistency", "eventual"],
  ["contract.lookup.maxExecution", "5"],
  ["contract.lookup.visibility", -1],
  ["contract.lookup.negatives", 0, 1.5],
  ["contract.lookup.spacing", "2d"],
  ["contract.lookup.resolution", 0],
  ["contract.lookup.skew", "two seconds"],
  ["contract.lookup.creationTime", "no"],
  ["contract.fence.kind", undefined, "effect"],
  ["contract.fence.permanent", "yes"],
  ["contract.fence.proved", "yes"],
  ["contract.effect.method", undefined, "GET", "post"],
  ["contract.effect.path", undefined, "v1/charges", "/a b"],
  ["contract.key.proved.date", undefined, "31.05.2026", "2026-13-01", 20260531],
  ["contract.key.proved.against", undefined, ""],
]

describe("an option of the wrong kind is refused by name, with the fix as code", () => {
  test.each(BAD.flatMap(([path, ...values]) => values.map((value) => [path, value] as const)))(
    "%s: %o [AU-12]",
    (path, value) => {
      const error = errorOf(() => define(withOption(path, value)))
      expect(error.code).toBe("definition_invalid")
      expect(error.detail["path"]).toBe(path)
      expect(error.nothingRan).toBe(true)
      expect(error.message).toContain(`\`${path}\``)
      if (path !== "name") expect(error.message).toContain('Tool "billing.charge"'.slice(1))
      const option = path.split(".").at(-1) ?? ""
      expect(error.message).toMatch(new RegExp(`Write \`${option}:`))
    },
  )

  test("every option of every table has a row", () => {
    const rows = new Set(BAD.map(([path]) => path))
    const known = [
      ...Object.keys(DEFINED_OPTIONS),
      ...Object.keys(CONTRACT_OPTIONS).map((option) => `contract.${option}`),
      ...Object.keys(KEY_OPTIONS).map((option) => `contract.key.${option}`),
      ...Object.keys(LOOKUP_OPTIONS).map((option) => `contract.lookup.${option}`),
      ...Object.keys(FENCE_OPTIONS).map((option) => `contract.fence.${option}`),
      ...Object.keys(EFFECT_OPTIONS).map((option) => `contract.effect.${option}`),
      ...Object.keys(PROOF_OPTIONS).map((option) => `contract.key.proved.${option}`),
    ]
    expect(known.filter((path) => !rows.has(path))).toEqual([])
    expect(Object.keys(GUARD_OPTIONS).filter((option) => !Object.hasOwn(DEFINED_OPTIONS, option))).toEqual([])
  })

  test.each(Object.keys(SOURCE_OPTIONS))("a source without its %s is refused", (option) => {
    const { [option as keyof typeof source]: _left, ...rest } = source
    const error = errorOf(() => define(withOption("contract.sources", [source, rest])))
    expect(error.detail["path"]).toBe(`contract.sources[1].${option}`)
  })
})

describe("an option that is not built is refused, never ignored", () => {
  test.each(Object.keys(UNBUILT))("%s", (option) => {
    for (const run of [
      () => define({ ...whole, [option]: "required" }),
      () => guard({ ...guarded, [option]: "required" }),
      () => define({ ...whole, contract: { ...contract, [option]: true } }),
    ]) {
      const error = errorOf(run)
      expect(error.code).toBe("unsupported_option")
      expect([option, `contract.${option}`]).toContain(error.detail["option"])
      expect(error.message).toContain("not supported by this version")
    }
  })
})

describe("an unknown option is refused, with what was most likely meant", () => {
  test.each([
    [{ ...whole, timeot: "30s" }, "timeot", "Did you mean `timeout`?"],
    [{ ...whole, Probe: () => null }, "Probe", "Did you mean `probe`?"],
    [{ ...whole, retry_on_repeat: true }, "retry_on_repeat", "Did you mean `retryOnRepeat`?"],
    [{ ...whole, xyzzy: 1 }, "xyzzy", "use one of: "],
    [{ ...whole, retention: "24h" }, "retention", "belongs to `contract.key`"],
    [{ ...whole, correlates: "operation" }, "correlates", "belongs to `contract.lookup`"],
    [{ ...whole, contract: { ...contract, resource: "x" } }, "contract.resource", "belongs to the tool itself"],
    [{ ...whole, contract: { ...contract, definit: [402] } }, "contract.definit", "Did you mean `definite`?"],
    [{ ...whole, contract: { key: { ...key, sent_as: "x" } } }, "contract.key.sent_as", "Did you mean `sentAs`?"],
  ])("%#", (definition, option, words) => {
    const error = errorOf(() => define(definition))
    expect(error.code).toBe("unsupported_option")
    expect(error.detail["option"]).toBe(option)
    expect(error.message).toContain(words)
  })

  test.each(["safety", "execute", "fence", "journaled"])("guard takes no %s", (option) => {
    const error = errorOf(() => guard({ ...guarded, [option]: whole[option] ?? true }))
    expect(error.code).toBe("unsupported_option")
    expect(error.message).toContain("`guard` takes the function first")
  })
})

test("what is no definition at all is refused with words", () => {
  for (const nothing of [undefined, null, "charge", [], {}, { name: 7 }]) {
    expect(errorOf(() => define(nothing)).code).toBe("definition_invalid")
    expect(errorOf(() => guard(nothing)).code).toBe("definition_invalid")
  }
  const error = errorOf(() => guardTool("fetch" as unknown as () => void, guarded as never))
  expect(error.message).toContain("the first argument of `guard` must be the function")
})
