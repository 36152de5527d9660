// Tools for the tests of the command. The outside world is a ledger file: one line for each effect.
//
// What happens is said by `params.how`, or by the environment's HOW, so that a later process may meet another world.
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { absent, defineTool, found, id, minor, outcome } from "@invokejs/invoke"

const LEDGER = process.env.LEDGER ?? ""

const input = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value?.id === "string" ? { value } : { issues: [{ message: "id is a string", path: ["id"] }] },
  },
}

function effects() {
  if (!existsSync(LEDGER)) return []
  return readFileSync(LEDGER, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
}

function apply({ params, operationId }) {
  console.log("a tool's module talks")
  const how = process.env.HOW ?? params.how ?? "done"
  const said = params.said ?? ""
  const entry = `${JSON.stringify({ id: params.id, operation_id: operationId, said })}\n`
  switch (how) {
    case "done":
      appendFileSync(LEDGER, entry)
      return outcome.applied({ id: params.id, said })
    case "lost_after":
      appendFileSync(LEDGER, entry)
      throw new Error("the connection was lost")
    case "lost_wrong":
      appendFileSync(LEDGER, entry.replace('"said":"', '"said":"not '))
      throw new Error("the connection was lost")
    case "lost":
      throw new Error("the connection was lost")
    case "accepted":
      appendFileSync(LEDGER, entry)
      return outcome.accepted("ref-1")
    case "busy":
      throw outcome.notApplied({ code: "busy", message: "come back later", retryAfter: "1h" })
    case "rejected":
      throw outcome.rejected({ code: "card_declined", message: "no" })
    case "slow":
      appendFileSync(LEDGER, entry)
      return new Promise((resolve) => {
        setTimeout(() => resolve(outcome.applied({ id: params.id })), 3_000)
      })
    default:
      throw new Error(`how: ${how}`)
  }
}

/** Nobody can look it up. */
const mail = defineTool({
  name: "test.mail",
  safety: "irreversible",
  input,
  identity: (params) => ({ mail: id(params.id) }),
  applied: "outcome",
  execute: apply,
})

/** Can be looked up, unless the file beside the ledger says that the provider is down. */
const pay = defineTool({
  name: "test.pay",
  safety: "write-once-checkable",
  input,
  identity: (params) => ({ invoice: id(params.id) }),
  applied: "outcome",
  contract: {
    lookup: {
      correlates: "operation",
      consistency: "strong",
      maxExecution: "100ms",
      visibility: "0s",
      spacing: "100ms",
    },
  },
  execute: apply,
  probe: ({ operationId }) => {
    if (existsSync(`${LEDGER}.down`)) throw new Error("the provider is down")
    const one = effects().find(({ operation_id }) => operation_id === operationId)
    return one
      ? found({ id: one.id, operationId, state: { invoice: one.id, paid: true, said: one.said } })
      : absent({ complete: true })
  },
  expect: (params) => ({
    match: { invoice: id(params.id) },
    effect: { paid: true },
    invariant: { said: params.said ?? "" },
  }),
})

/** Has no identity: the caller brings a key, and the intent guards against another one. */
const charge = defineTool({
  name: "test.charge",
  safety: "irreversible",
  input,
  intent: (params) => ({ customer: id(params.customer ?? params.id), amount: minor(500, "usd") }),
  applied: "outcome",
  execute: apply,
})

export const tools = [mail, pay, charge]
