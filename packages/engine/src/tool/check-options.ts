/**
 * Refuses options of a definition that are unknown, unbuilt or of the wrong kind, before anything can run with it.
 *
 * Owns: each option by itself. Rules between options stand in `definition-rules.ts`. Messages say what, which tool, and the fix as code.
 *
 * CO1. An unknown or unbuilt option is refused by name: ignoring one would drop a protection in silence.
 */
import type { InvokeError } from "@invokejs/protocol"
import { definitionError } from "./definition-error.ts"
import { nearName } from "./near-name.ts"
import {
  CONTRACT_OPTIONS,
  DEFINED_OPTIONS,
  EFFECT_OPTIONS,
  FENCE_OPTIONS,
  GUARD_OPTIONS,
  KEY_OPTIONS,
  LOOKUP_OPTIONS,
  PROOF_OPTIONS,
  SOURCE_OPTIONS,
  UNBUILT,
  isToolName,
  type OptionTable,
} from "./option-tables.ts"

interface Said {
  readonly [option: string]: unknown
}

interface Place {
  readonly tool: string
  /** `""` on the tool itself, `contract.key.` inside. */
  readonly prefix: string
}

const TABLES: readonly { readonly prefix: string; readonly table: OptionTable }[] = [
  { prefix: "", table: DEFINED_OPTIONS },
  { prefix: "contract.", table: CONTRACT_OPTIONS },
  { prefix: "contract.key.", table: KEY_OPTIONS },
  { prefix: "contract.lookup.", table: LOOKUP_OPTIONS },
  { prefix: "contract.fence.", table: FENCE_OPTIONS },
]

export function toolNameOf(definition: unknown, where: string): string {
  const name = isRecord(definition) ? definition["name"] : undefined
  if (isToolName(name)) return name
  throw definitionError("definition_invalid", {
    tool: typeof name === "string" ? name.slice(0, 80) : "(unnamed)",
    path: "name",
    what: isRecord(definition)
      ? "`name` is missing or has characters that agents' providers refuse"
      : `${where} needs an object of options`,
    fix: 'Write `name: "billing.charge_customer"`: 1 to 64 letters, digits, `_`, `-` or `.`, beginning with a letter.',
  })
}

/** Every option by itself: known, built, of the right kind. */
export function checkOptions(tool: string, definition: Said, form: "defined" | "guarded"): void {
  checkTable({ tool, prefix: "" }, definition, form === "defined" ? DEFINED_OPTIONS : GUARD_OPTIONS)
  const contract = recordAt(definition, "contract")
  if (!contract) return
  checkTable({ tool, prefix: "contract." }, contract, CONTRACT_OPTIONS)
  checkInner(tool, contract, "key", KEY_OPTIONS)
  checkInner(tool, contract, "lookup", LOOKUP_OPTIONS)
  checkInner(tool, contract, "fence", FENCE_OPTIONS)
  checkInner(tool, contract, "effect", EFFECT_OPTIONS)
  for (const [index, source] of listAt(contract, "sources").entries()) {
    checkTable({ tool, prefix: `contract.sources[${index}].` }, source, SOURCE_OPTIONS)
  }
  for (const part of ["key", "fence"]) {
    const proved = recordAt(recordAt(contract, part) ?? {}, "proved")
    if (proved) checkTable({ tool, prefix: `contract.${part}.proved.` }, proved, PROOF_OPTIONS)
  }
}

function checkInner(tool: string, contract: Said, part: string, table: OptionTable): void {
  const inner = recordAt(contract, part)
  if (inner) checkTable({ tool, prefix: `contract.${part}.` }, inner, table)
}

function checkTable({ tool, prefix }: Place, said: Said, table: OptionTable): void {
  for (const option of Object.keys(said)) {
    if (!Object.hasOwn(table, option)) throw strayOption({ tool, prefix }, option, table)
  }
  for (const [option, rule] of Object.entries(table)) {
    const value = said[option]
    const path = `${prefix}${option}`
    if (value === undefined && rule.required !== true) continue
    if (value !== undefined && rule.holds(value)) continue
    throw definitionError("definition_invalid", {
      tool,
      path,
      what: value === undefined ? `\`${path}\` is missing` : `\`${path}\` must be ${rule.expects}`,
      fix: `Write \`${rule.example}\`.`,
    })
  }
}

function strayOption({ tool, prefix }: Place, option: string, table: OptionTable): InvokeError {
  const path = `${prefix}${option}`
  const unbuilt = Object.hasOwn(UNBUILT, option) ? UNBUILT[option] : undefined
  if (unbuilt !== undefined) {
    const what = `option \`${path}\` is not supported by this version (${unbuilt})`
    return definitionError("unsupported_option", {
      tool,
      path,
      what,
      fix: `Remove \`${path}\`; nothing would act on it.`,
    })
  }
  const fix = homeOf(prefix, option, table) ?? nearFix(option, table)
  return definitionError("unsupported_option", { tool, path, what: `there is no option \`${path}\``, fix })
}

function homeOf(prefix: string, option: string, table: OptionTable): string | null {
  if (prefix === "" && table !== DEFINED_OPTIONS && Object.hasOwn(DEFINED_OPTIONS, option)) {
    return "`guard` takes the function first and its class from `probe`; for the rest write `defineTool({ … })`."
  }
  const home = TABLES.find((one) => one.prefix !== prefix && Object.hasOwn(one.table, option))
  if (!home) return null
  const place = home.prefix === "" ? "the tool itself" : `\`${home.prefix.slice(0, -1)}\``
  return `It belongs to ${place}: write \`${home.table[option]?.example}\` there.`
}

function nearFix(option: string, table: OptionTable): string {
  const near = nearName(option, Object.keys(table))
  if (near === null) return `Remove it, or use one of: ${Object.keys(table).sort().join(", ")}.`
  return `Did you mean \`${near}\`? Write \`${table[near]?.example}\`.`
}

function isRecord(value: unknown): value is Said {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function recordAt(said: Said, option: string): Said | null {
  const value = said[option]
  return isRecord(value) ? value : null
}

function listAt(said: Said, option: string): readonly Said[] {
  const value = said[option]
  return Array.isArray(value) ? value.filter(isRecord) : []
}
