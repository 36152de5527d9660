/**
 * What an author hands to the prover: `tools`, made for a URL, and `prove`, a fake and parameters for each tool.
 *
 * Owns: reading the module, and the words for what is missing in it.
 *
 * PM1. Tools are made anew for each URL they are to reach, so that no request goes anywhere but to the fake.
 */
import { durationMs, type AnyTool, type Duration } from "@invokejs/engine"
import { canonicalJson, InvokeError, type Json } from "@invokejs/protocol"
import { isAtUrl, type Fake, type FakeWorld } from "./fake-provider.ts"

export type ToolsAt = (place: { readonly url: string }) => readonly AnyTool[] | Promise<readonly AnyTool[]>

export interface ProveEntry {
  /** Of the call that every case makes. */
  readonly params: Json
  readonly provider: (world: FakeWorld) => Fake | Promise<Fake>
  /** Where the module's own `tools` is a list: the tools at that URL. */
  readonly tools?: ToolsAt
  /** Parameters of the n-th other action, for objects of strangers and for a key used with another body. */
  readonly other?: (n: number) => Json
  /** Parameters that are words of a model: changing them must not make another action. Default: every text of three words. */
  readonly words?: readonly string[]
}

/** A tool with its fake, checked. */
export interface Subject {
  readonly name: string
  readonly entry: ProveEntry
  readonly safety: AnyTool["safety"]
  readonly toolAt: (url: string) => Promise<AnyTool>
}

/** Nothing listens there: the tools made for it are only read. */
const NOWHERE = "http://127.0.0.1:9"

export async function readSubjects(
  exported: { readonly [name: string]: unknown },
  only: readonly string[] = [],
): Promise<readonly Subject[]> {
  const prove = exported["prove"]
  if (!isRecord(prove) || Object.keys(prove).length === 0) {
    throw unusable(
      "exports no `prove`",
      "Write: export const prove = { charge_customer: { params: {…}, provider: ({ now }) => ({ handle, effects }) } }.",
    )
  }
  const names = only.length === 0 ? Object.keys(prove) : only
  const subjects: Subject[] = []
  for (const name of names) {
    if (!Object.hasOwn(prove, name)) {
      throw unusable(`has no \`prove\` for ${name}`, `It has: ${Object.keys(prove).join(", ")}.`)
    }
    subjects.push(await subjectOf(name, checkedEntry(name, prove[name]), exported))
  }
  return subjects
}

async function subjectOf(
  name: string,
  entry: ProveEntry,
  exported: { readonly [name: string]: unknown },
): Promise<Subject> {
  const at = entry.tools ?? exported["tools"]
  if (typeof at !== "function") {
    throw unusable(
      "exports `tools` as a list, so nobody can lead them to a fake",
      `Write: export const tools = ({ url }) => [defineTool({ … })], or give prove.${name} a \`tools\` of that form.`,
    )
  }
  const toolAt = async (url: string): Promise<AnyTool> => {
    const tools: unknown = await (at as ToolsAt)({ url })
    if (!Array.isArray(tools)) throw unusable("gives no list of tools", "Write: export const tools = ({ url }) => […].")
    const known = tools as readonly AnyTool[]
    const tool = known.find((one) => one?.name === name)
    if (tool) return tool
    throw unusable(`makes no tool ${name}`, `It makes: ${known.map((one) => String(one?.name)).join(", ")}.`)
  }
  return { name, entry, safety: (await toolAt(NOWHERE)).safety, toolAt }
}

function checkedEntry(name: string, given: unknown): ProveEntry {
  const fault = (what: string, fix: string) => unusable(`: prove.${name} ${what}`, fix)
  if (!isRecord(given)) throw fault("is no object", "Write: { params: {…}, provider: ({ now }) => ({ … }) }.")
  const stray = Object.keys(given).find((option) => !ENTRY_OPTIONS.includes(option))
  if (stray !== undefined) throw fault(`has no option \`${stray}\``, `Use: ${ENTRY_OPTIONS.join(", ")}.`)
  if (typeof given["provider"] !== "function") {
    throw fault("has no `provider`", "Write: provider: ({ now }) => ({ handle(request) { … }, effects() { … } }).")
  }
  for (const option of ["tools", "other"]) {
    if (given[option] !== undefined && typeof given[option] !== "function") {
      throw fault(`has an \`${option}\` that is no function`, "Write it as a function, or leave it out.")
    }
  }
  try {
    canonicalJson(given["params"])
  } catch {
    throw fault("has no `params` that are JSON", 'Write: params: { invoice: "84721", amount: 50000 }.')
  }
  return given as unknown as ProveEntry
}

const ENTRY_OPTIONS: readonly string[] = ["params", "provider", "tools", "other", "words"]

/** A fake as its factory gave it; throws where it is none. */
export async function fakeOf({ name, entry }: Subject, world: FakeWorld): Promise<Fake> {
  const fake: unknown = await entry.provider(world)
  const fault = (what: string, fix: string) => unusable(`: prove.${name}.provider ${what}`, fix)
  if (!isRecord(fake) || typeof fake["effects"] !== "function") {
    throw fault("gives no fake that counts its effects", "Return { effects() { … } } with `handle` or `url`.")
  }
  if (typeof fake["handle"] !== "function" && typeof fake["url"] !== "string") {
    throw fault("gives neither `handle` nor `url`", "Return { handle(request) { … }, effects() { … } }.")
  }
  for (const time of ["landsWithin", "showsWithin"]) {
    if (fake[time] !== undefined && durationMs(fake[time]) === null) {
      throw fault(`gives a \`${time}\` that is no length of time`, 'Write it like "5m" or "20s".')
    }
  }
  return fake as unknown as Fake
}

export function truthMs(given: Duration | undefined, claimed: number): number {
  return (given === undefined ? null : durationMs(given)) ?? claimed
}

/** Whether its time can be made to pass. */
export function followsClock(fake: Fake): boolean {
  return !isAtUrl(fake) || fake.clock !== undefined
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function unusable(what: string, fix: string): InvokeError {
  return new InvokeError("config_invalid", {
    happened: `the module ${what}`.replace("module : ", "module: "),
    fix,
    detail: { path: "prove" },
  })
}
