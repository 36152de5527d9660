// Hunts an error that lies about whether something ran, a code that its caller cannot recognise, and a message that does not say
// what to do.

import { ERROR_CODES, ERRORS, InvokeError, JOURNAL_ERRORS, problemOf, buildResult, errorDocs } from "@invokejs/protocol"
import { expect, expectTypeOf, test } from "vitest"
import { anOperation, seen } from "./an-operation.ts"

const result = buildResult(anOperation("unknown"), seen())

test("every code says what happened, which thing and what to do, in one message", () => {
  const error = new InvokeError("unknown_tool", {
    happened: 'no tool is called "charge"',
    fix: 'Near: "charge_customer".',
  })
  expect(error.message).toBe('no tool is called "charge". Near: "charge_customer". (unknown_tool)')
  expect(error).toMatchObject({ name: "InvokeError", code: "unknown_tool", http: 404, exit: 2, nothingRan: true })
  expect(error.docs).toBe("docs/reference/errors/unknown_tool.md")
})

test.each(ERROR_CODES)("%s has a title, a way out, a docs anchor and a text for models", (code) => {
  const row = ERRORS[code]
  expect(row.title).toMatch(/^[A-Z].*[^.]$/)
  expect(row.fix).toMatch(/^[A-Z].*\.$/s)
  expect(row.agent_text).toMatch(/^[A-Z].*\.$/s)
  expect(row.agent_text).not.toMatch(/try again|retry/i)
  expect(errorDocs(code)).toBe(`docs/reference/errors/${code}.md`)
})

test("nothing ran, but for the two codes that are about an operation and carry its result", () => {
  const ran = ERROR_CODES.filter((code) => !ERRORS[code].nothing_ran)
  expect(ran).toEqual(["unsettled", "not_in_place"])
  for (const code of ran) {
    const error = new InvokeError(code, { result })
    expect(error).toMatchObject({ nothingRan: false, exit: 3, agent_text: result.agent_text, result })
    expect(() => new InvokeError(code)).toThrow("needs the result")
  }
  for (const code of ERROR_CODES.filter((one) => ERRORS[one].nothing_ran)) {
    expect(new InvokeError(code)).toMatchObject({ nothingRan: true, exit: ERRORS[code].exit })
    expect(ERRORS[code].agent_text).toMatch(/Nothing ran|no operation|not settled/)
  }
})

test("an error is recognised by its code, also where another copy of the package made it", () => {
  const error = new InvokeError("version_conflict")
  const foreign = { name: "InvokeError", code: "version_conflict", message: "x" }
  expect(InvokeError.is(error)).toBe(true)
  expect(InvokeError.is(error, "version_conflict")).toBe(true)
  expect(InvokeError.is(error, "internal")).toBe(false)
  expect(InvokeError.is(foreign, "version_conflict")).toBe(true)
  for (const other of [
    null,
    "version_conflict",
    new Error("x"),
    { name: "InvokeError", code: "toString" },
    { code: "internal" },
  ]) {
    expect(InvokeError.is(other)).toBe(false)
  }
  const caught: unknown = error
  if (InvokeError.is(caught, "version_conflict")) expectTypeOf(caught.code).toEqualTypeOf<"version_conflict">()
})

test("the text for a model names the parameters to correct, bounded, and repeats nothing else [ST-9]", () => {
  const issues = Array.from({ length: 30 }, (_, index) => ({ path: `f${index}`, message: "expected a number" }))
  const error = new InvokeError("invalid_params", { happened: "secret sk_live_1", detail: { issues } })
  expect(error.agent_text).toContain("f0: expected a number; f1: expected a number")
  expect(error.agent_text).not.toContain("f8")
  expect(error.agent_text).not.toContain("sk_live_1")
  const other = new InvokeError("forbidden", { happened: "secret", detail: { issues } })
  expect(other.agent_text).toBe(ERRORS.forbidden.agent_text)
  const hostile = new InvokeError("invalid_params", {
    detail: { issues: [null, 5, { path: 1 }, { message: "m".repeat(999) }] },
  })
  expect(hostile.agent_text.length).toBeLessThan(400)
})

test("a problem keeps its own members, whatever the detail is called", () => {
  const error = new InvokeError("rate_limited", {
    detail: { status: 200, code: "ok", limit: "calls" },
    retry_after_ms: 1_500,
  })
  expect(problemOf(error)).toMatchObject({
    type: "docs/reference/errors/rate_limited.md",
    status: 429,
    code: "rate_limited",
    limit: "calls",
    retry_after_ms: 1_500,
    same_call_again: "same_key",
  })
  expect(problemOf(new InvokeError("applied_missing")).status).toBe(500)
})

test("the cause is kept", () => {
  const cause = new Error("disk full")
  expect(new InvokeError("journal_unavailable", { cause }).cause).toBe(cause)
})

test("an admission in doubt is no error: no journal code maps it to one [item 12]", () => {
  expect(Object.keys(JOURNAL_ERRORS)).not.toContain("commit_in_doubt")
  for (const code of Object.values(JOURNAL_ERRORS)) expect(ERRORS[code].nothing_ran).toBe(true)
})
