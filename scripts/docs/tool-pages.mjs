// @ts-check
// Reference pages about what users write and hold: the definition of a tool, and the SDK's objects.

import {
  CONTRACT_OPTIONS,
  DEFINED_OPTIONS,
  FENCE_OPTIONS,
  GUARD_OPTIONS,
  KEY_OPTIONS,
  LOOKUP_OPTIONS,
  UNBUILT,
} from "@invokejs/engine/internal"
import { code, duration, pageHead, span, table, yes } from "./markdown.mjs"
import { fieldsOf, methodsOf } from "./source-docs.mjs"

/** @typedef {{ readonly [option: string]: { expects: string, example: string, required?: boolean } }} OptionTable */

const DEFINITION = "packages/engine/src/tool/tool-definition.ts"
const CONTRACT = "packages/engine/src/tool/contract-input.ts"

/** For options whose type has no comment of its own. @type {{ readonly [option: string]: string }} */
const SAYS = {
  input: "Checks the parameters before anything is reserved; with `guard` it is optional.",
  safety: "What unknown leads to.",
  execute: "Makes the effect.",
  probe: "Looks at the outside system and says what is there.",
  fence: "Writes a tombstone under the operation's own name, so that a late original can no longer win.",
  contract: "What the provider promises, as data.",
  classify: "The same words as `outcome`, for functions that cannot be edited.",
  description: "For agents.",
  identityVersion: "Names the present `identity` function. A changed function needs a new one.",
  timeout: "How long one attempt may take. Default 30 s.",
  deadline: "How long the operation may go on dispatching. Default 24 h.",
  attempts: "Attempts that left the machine. Default 3, irreversible 1.",
  wait: "How long a call waits for an answer. Default 60 s.",
  repeatWindow: "How long a success fills its intent slot. Default 24 h.",
  settleBy: "How long an acceptance may stay open before a person is asked. Default 72 h.",
  correlates:
    "Why an object is ours: it carries our id or key, it was made by this dispatch, or the call sets its state.",
  consistency: "`strong`: no lag. `bounded`: at most `visibility`. `search`: never a negative.",
  exclusive: "No other writer sets this resource.",
  kind: "A tombstone is an object of our own that takes the name.",
  scope: "What the key is unique in, in the provider's words.",
  maxLength: "The longest key the provider takes.",
  coveredHeaders: "Headers that belong to the request under a key.",
  answersForKey: "Statuses with which the provider's key layer speaks for every attempt under the key.",
  key: "The provider's idempotency key.",
  lookup: "How far a look can be trusted.",
  sources: "Where the provider says so, with dates.",
}

/** @param {[path: string, opening: string][]} places @returns {Map<string, string>} */
function docsOf(places) {
  const members = places.flatMap(([path, opening]) => fieldsOf(path, opening))
  return new Map(members.filter(({ doc }) => doc !== "").map(({ name, doc }) => [name, doc]))
}

/** @param {OptionTable} options @param {Map<string, string>} docs */
function optionTable(options, docs) {
  return table(
    ["option", "needed", "takes", "as code", "says"],
    Object.entries(options).map(([name, { expects, example, required }]) => [
      code(name),
      yes(required === true),
      expects.replaceAll(/\b(\d+) ms\b/g, (_all, ms) => duration(Number(ms))),
      span(example),
      docs.get(name) ?? SAYS[name] ?? "",
    ]),
  )
}

const WORDS = `## What a function can say

| word | means |
| --- | --- |
| \`return value\` | what \`applied\` says it means |
| \`return outcome.applied(value, { object })\` | the effect took place |
| \`return outcome.accepted(reference)\` | the provider took the request and finishes later |
| \`throw outcome.notApplied({ code, message, retryAfter })\` | this attempt changed nothing; another one may work |
| \`throw outcome.rejected({ code, message })\` | the provider refused for good |
| any other throw | unknown, unless Invoke's transport proves that nothing left |`

function unbuiltTable() {
  return `## Not built

These words are refused (\`unsupported_option\`), so that nobody believes in a protection that is not there.

${table(
  ["option", "would be"],
  Object.entries(UNBUILT).map(([name, what]) => [code(name), what]),
)}`
}

export function toolDefinitionPage() {
  const common = docsOf([
    [DEFINITION, "interface CommonOptions"],
    [DEFINITION, "interface ConsequentialOptions"],
    [DEFINITION, "interface DefinedConsequential"],
    [DEFINITION, "interface GuardCommon"],
    [DEFINITION, "interface GuardChecks"],
    [DEFINITION, "export interface ReadOnlyDefinition"],
  ])
  const guarded = Object.keys(GUARD_OPTIONS).filter(
    (name) => GUARD_OPTIONS[name]?.required === true && DEFINED_OPTIONS[name]?.required !== true,
  )
  const missing = Object.keys(DEFINED_OPTIONS).filter((name) => GUARD_OPTIONS[name] === undefined)
  const sections = /** @type {const} */ ([
    ["`contract`", CONTRACT_OPTIONS, "export interface ContractInput"],
    ["`contract.key`", KEY_OPTIONS, "export interface KeyInput"],
    ["`contract.lookup`", LOOKUP_OPTIONS, "export interface LookupInput"],
    ["`contract.fence`", FENCE_OPTIONS, "export interface FenceInput"],
  ])
  return `${pageHead("Tool definition", "packages/engine/src/tool/option-tables.ts", "tool-definition.ts", "contract-input.ts")}
The options of \`defineTool\`. Which ones a class needs: [tool safety classes](../concepts/tool-safety-classes.md).

${optionTable(DEFINED_OPTIONS, common)}

\`guard\` takes the same options but ${missing.map(code).join(", ")}: the function is its first argument, and the class follows from
\`probe\`. It also needs ${[...guarded, "applied"].map(code).join(" and ")}. Its functions take \`(params, context)\` where those of \`defineTool\` take
one object with \`params\` in it.

${sections.map(([title, options, opening]) => `## ${title}\n\n${optionTable(options, docsOf([[CONTRACT, opening]]))}`).join("\n\n")}

## What a probe answers

\`found(object | objects, { complete, search })\`, \`absent({ complete })\`, \`unsure(reason)\`, \`notApplied(reason, { permanent })\`. An object:

${table(
  ["field", "type", "says"],
  fieldsOf("packages/engine/src/tool/probe-answer.ts", "export interface FoundObject").map(({ name, type, doc }) => [
    code(name),
    code(type),
    doc,
  ]),
)}

${WORDS}

${unbuiltTable()}
`
}

/** @param {import("./source-docs.mjs").Member[]} members */
function memberTable(members) {
  return table(
    ["member", "signature", "says"],
    members.map(({ name, type, doc }) => [code(name), code(type), doc]),
  )
}

/** @param {string} path @param {string} opening */
function fieldTable(path, opening) {
  return table(
    ["option", "type", "says"],
    fieldsOf(path, opening).map(({ name, optional, type, doc }) => [
      code(name + (optional ? "?" : "")),
      code(type),
      doc,
    ]),
  )
}

export function sdkPage() {
  const invoke = methodsOf("packages/engine/dist/invoke.d.ts", "export declare class Invoke")
  const operator = methodsOf("packages/engine/dist/operate/operator.d.ts", "export declare class Operator")
  return `${pageHead("SDK", "packages/invoke/src/open.ts", "packages/engine/src/invoke.ts", "operate/operator.ts")}
The embedded SDK: one object for applications and agents, another one for people.

\`\`\`js
import { Invoke } from "@invokejs/invoke"

const invoke = await Invoke.open({ journal: "./invoke.db", tools: [] })
\`\`\`

## \`Invoke.open\`

${fieldTable("packages/invoke/src/open.ts", "export interface OpenOptions")}

There is no default path: two journals are two Invokes.

## The object

${memberTable(invoke.filter(({ name }) => !name.startsWith("static")))}

## Options of \`call\`

\`params\` may come from a model. The other options never do.

${fieldTable("packages/engine/src/admission/call-options.ts", "export interface CallOptions")}

## What a function gets

The second argument of a guarded function, and what \`execute\` gets beside \`params\`:

${fieldTable("packages/engine/src/tool/compiled-tool.ts", "export interface AttemptContext")}

The second argument of a guarded function's probe, and what a \`probe\` gets beside \`params\`:

${fieldTable("packages/engine/src/tool/compiled-tool.ts", "export interface ProbeContext")}

## The operator

\`invoke.operator({ name })\`. Which verb from which state: [verbs](verbs.md).

${memberTable(operator)}

## Checkpoints

\`invoke.checkpoint(id, { tenant })\` keeps an agent run's own state in the journal, fenced by version.

${memberTable(methodsOf("packages/engine/dist/checkpoints.d.ts", "export interface Checkpoint"))}

## Values

\`id(text)\`, \`text(words)\`, \`minor(2400, "usd")\`, \`decimal("24.00", "usd")\`, \`instant("2026-05-31T10:00:00Z")\`: typed values for identity, intent and
expectations. Two that mean the same are equal: \`minor(2400, "usd")\` and \`decimal("24.00", "usd")\`.
`
}
