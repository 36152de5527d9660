// @ts-check
// One page for each error code, with the message that a person really reads, and the list of them.

import { ERROR_CODES, ERRORS, errorDocs } from "@invokejs/protocol"
import { causeError, UNCAUSED } from "./error-triggers.mjs"
import { code, fence, pageHead, table, yes } from "./markdown.mjs"

/** @import { ErrorCode, SameCallAgain } from "@invokejs/protocol" */
/** @import { CausedError } from "./error-triggers.mjs" */
/** @typedef {{ readonly http: number | null, readonly exit: number | null, readonly fields: readonly string[] }} Wire */

/** @type {{ readonly [word in SameCallAgain]: string }} */
const AGAIN = {
  after_code_change: "no: change the code first",
  with_other_params: "no: correct the parameters first",
  after_reading_the_operation: "after reading the operation",
  same_key: "yes, unchanged, with the same key",
  no: "no",
}

/** Where a concept explains more. @type {{ readonly [code in ErrorCode]?: [string, string] }} */
const MORE = {
  identity_required: ["Identity", "../../concepts/identity.md"],
  identity_changed: ["Identity", "../../concepts/identity.md"],
  idempotency_key_reused: ["Identity", "../../concepts/identity.md"],
  applied_missing: ["Tool safety classes", "../../concepts/tool-safety-classes.md"],
  expect_missing: ["Reconciliation", "../../concepts/reconciliation.md"],
  probe_without_cause: ["Evidence", "../../concepts/evidence.md"],
  resource_missing: ["Evidence", "../../concepts/evidence.md"],
  definition_invalid: ["Tool definition", "../tool-definition.md"],
  duplicate_tool: ["Tool definition", "../tool-definition.md"],
  unsupported_option: ["Tool definition", "../tool-definition.md"],
  unsettled: ["What to do with results", "../../start/results.md"],
  not_in_place: ["What to do with results", "../../start/results.md"],
  supersedes_refused: ["Verbs", "../verbs.md"],
  retry_refused: ["Verbs", "../verbs.md"],
  version_conflict: ["Verbs", "../verbs.md"],
  illegal_transition: ["States", "../states.md"],
  draining: ["Recovery", "../../operating/recovery.md"],
  quarantined: ["Recovery", "../../operating/recovery.md"],
  journal_unavailable: ["The journal", "../../operating/journal.md"],
  journal_unusable: ["The journal", "../../operating/journal.md"],
}

/** @param {ErrorCode} name @param {CausedError | null} thrown */
function errorPage(name, thrown) {
  /** @type {Wire} */
  const wire = ERRORS[name]
  const { title, fix, agent_text, nothing_ran, same_call_again } = ERRORS[name]
  const more = MORE[name]
  return `${pageHead(name, "packages/protocol/src/error-registry.ts")}
${thrown ? fence("text", thrown.message) : `${title}. ${UNCAUSED[name] ?? ""}`}

${table(
  ["", ""],
  [
    ["title", title],
    ["nothing ran, nothing was reserved", yes(nothing_ran)],
    ["the same call again", AGAIN[same_call_again]],
    ["exit code of the command", wire.exit === null ? "the result's" : String(wire.exit)],
    ["HTTP status", wire.http === null ? "none: it never crosses the wire" : String(wire.http)],
    ...(thrown && thrown.detail !== "{}" ? [["`error.detail`", code(thrown.detail)]] : []),
  ],
)}

**What to do.** ${fix}${more ? ` More: [${more[0]}](${more[1]}).` : ""}

**What a model is told.** ${agent_text}
`
}

/** Every page, by its path; the path is what `InvokeError.docs` names. @returns {Promise<Map<string, string>>} */
export async function errorPages() {
  const pages = new Map()
  /** @type {string[][]} */
  const rows = []
  for (const name of ERROR_CODES) {
    const thrown = UNCAUSED[name] === undefined ? await causeError(name) : null
    pages.set(errorDocs(name), errorPage(name, thrown))
    const { title, nothing_ran, same_call_again } = ERRORS[name]
    rows.push([`[${name}](errors/${name}.md)`, title, yes(nothing_ran), AGAIN[same_call_again]])
  }
  pages.set("docs/reference/errors.md", listPage(rows))
  return pages
}

/** @param {string[][]} rows */
function listPage(rows) {
  return `${pageHead("Errors", "packages/protocol/src/error-registry.ts")}
An \`InvokeError\` from \`call\` means that nothing ran and nothing was reserved. What happened to an operation is a
[result](results.md), never an error.

${table(["code", "title", "nothing ran", "the same call again"], rows)}

\`guard\` has no result to return where the effect is not in place, so it throws: \`unsettled\` and \`not_in_place\` are the two codes about
an operation, and they carry it as \`error.result\`.

Every error has \`code\`, \`message\`, \`detail\`, \`exit\`, \`http\`, \`nothingRan\`, \`agent_text\`, \`docs\` (the path of its page here), and
where they apply \`retry_after_ms\`, \`result\`, \`cause\`. Tell them apart by code: \`InvokeError.is(error, "unsettled")\`.
`
}
