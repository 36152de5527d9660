// @ts-check
// What must be true of a round: one effect in the outside system, one answer that made it, and everybody else told the same.

/** @typedef {import("./racer-program.mjs").Answer} Answer */
/** @typedef {import("./racer-program.mjs").Answered} Answered */
/** @typedef {import("./race-tools.mjs").Kind} Kind */

/** @typedef {{ readonly round: string, readonly kind: Kind, readonly answers: readonly Answer[], readonly effects: number }} RoundRun */

/** @param {RoundRun} run @returns {string[]} what is wrong */
export function judgeRound({ round, kind, answers, effects }) {
  const told = answers.filter(/** @returns {one is Answered} */ (one) => "status" in one)
  const wrong = answers.flatMap((one) => ("error" in one ? [`told ${one.error}`] : []))
  if (effects !== 1) wrong.push(`${effects} effects`)
  const made = told.filter(({ status }) => status === "succeeded")
  if (made.length !== 1) wrong.push(`${made.length} answers say succeeded`)
  wrong.push(...(kind === "intent" ? judgeGuarded(told, made[0]) : judgeShared(told)))
  return wrong.map((text) => `${round} (${kind}): ${text}`)
}

/** One action: one operation, one output, and everybody but one is told a replay. @param {readonly Answered[]} told */
function judgeShared(told) {
  const others = told.filter(({ status }) => status !== "succeeded" && status !== "replayed")
  const operations = new Set(told.map(({ operation_id }) => operation_id))
  const outputs = new Set(told.map(({ output }) => output))
  return [
    ...others.map(({ status }) => `told ${status}`),
    ...(operations.size === 1 ? [] : [`${operations.size} operation ids`]),
    ...(outputs.size === 1 && !outputs.has("null") ? [] : [`${outputs.size} outputs: ${[...outputs].join(", ")}`]),
  ]
}

/** One intent under many keys: everybody but one is held or refused, and told who holds it. @param {readonly Answered[]} told @param {Answered | undefined} made */
function judgeGuarded(told, made) {
  return told.flatMap((one) => {
    if (one === made) return []
    if (one.status !== "held" && one.status !== "refused") return [`another key was told ${one.status}`]
    return one.holder === made?.operation_id ? [] : [`${one.operation_id} does not name its holder`]
  })
}

/** @param {import("./racer-program.mjs").Tally} tally @param {{ readonly calls: number, readonly effects: number }} expected @returns {string[]} */
export function judgeParallel({ answers, by_status, operations, outputs }, { calls, effects }) {
  const { succeeded = 0, replayed = 0 } = by_status
  return [
    ...(effects === 1 ? [] : [`parallel: ${effects} effects`]),
    ...(answers === calls && succeeded === 1 && replayed === calls - 1
      ? []
      : [`parallel: ${JSON.stringify(by_status)}`]),
    ...(operations === 1 && outputs === 1 ? [] : [`parallel: ${operations} operation ids, ${outputs} outputs`]),
  ]
}

/** No row is lost, and no chain is broken. @param {import("./racer-program.mjs").Audit} audit @param {number} admitted @returns {string[]} */
export function judgeAudit({ operations, faults }, admitted) {
  return [
    ...(operations === admitted ? [] : [`the journal holds ${operations} operations, ${admitted} were admitted`]),
    ...faults.map((text) => `chain: ${text}`),
  ]
}
