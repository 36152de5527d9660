/**
 * Starts a stand-in provider as a process of its own. Its effects are counted in its own ledger file, which outlives
 * the process: `effects()` reads the file, so it answers also while the provider is dead.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import process from "node:process"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import type { AnswerRule } from "./answer-rules.ts"
import type { GatePlace } from "./gate.ts"
import { ledgerPath } from "./ledger.ts"
import { effectsOf, parseLedger, type Effect, type LedgerLine } from "./ledger-line.ts"
import type { ProviderName, ProviderSettings } from "./provider-kinds.ts"
import type { ProviderProgramOptions } from "./provider-program.ts"

export interface StartProviderOptions<Name extends ProviderName> {
  /** Where the ledger lives. A directory with a ledger in it continues that provider's life. */
  readonly directory: string
  /** Default: a free one, and the same again after `restart`. */
  readonly port?: number
  /** A fixed seed gives the same object ids in every run. Used only when the ledger is new. */
  readonly seed?: string
  readonly settings?: Partial<ProviderSettings[Name]>
}

type Child = ChildProcessByStdio<Writable, Readable, null>

export class RunningProvider<Name extends ProviderName> {
  readonly name: Name
  readonly directory: string
  readonly #seed: string | null
  #child: Child
  #port: number

  private constructor(name: Name, options: StartProviderOptions<Name>, started: { child: Child; port: number }) {
    this.name = name
    this.directory = options.directory
    this.#seed = options.seed ?? null
    this.#child = started.child
    this.#port = started.port
  }

  static async start<Name extends ProviderName>(
    name: Name,
    options: StartProviderOptions<Name>,
  ): Promise<RunningProvider<Name>> {
    const { directory, port = 0, seed = null, settings = {} } = options
    return new RunningProvider(name, options, await spawnProvider(name, { directory, port, seed, settings }))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Everything the provider made true, in order, or only what is of one kind. */
  async effects(kind?: string): Promise<Effect[]> {
    const effects = effectsOf(await this.ledger())
    return kind === undefined ? effects : effects.filter((effect) => effect.kind === kind)
  }

  /** Every line of the ledger: requests seen, executions, answers. */
  async ledger(): Promise<LedgerLine[]> {
    return parseLedger(await readFile(ledgerPath(this.directory), "utf8"))
  }

  /** Changes settings of the running provider; they survive its restarts. */
  async control(settings: Partial<ProviderSettings[Name]>): Promise<void> {
    await this.#post("settings", settings)
  }

  /** Orders answers in advance, instead of those ordered before. They do not survive a restart. */
  async answers(rules: readonly AnswerRule[]): Promise<void> {
    await this.#post("answers", rules)
  }

  /** Closes the gate at one place of every execution, or opens it. */
  async gate(place: GatePlace): Promise<void> {
    await this.#post("gate", { place })
  }

  /** Resolves once that many requests stand at the closed gate. */
  async atGate(count: number): Promise<void> {
    await this.#ask("GET", `/_control/at_gate?count=${count}`)
  }

  /** Ends the process in an orderly way and waits for it. */
  async stop(): Promise<void> {
    this.#child.stdin.end()
    await exited(this.#child)
  }

  /** Kills the process (SIGKILL) and waits for it. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await exited(this.#child)
  }

  /** Resolves when the process is gone, by whatever way: an ordered `exit`, a kill, a stop. */
  async exited(): Promise<void> {
    await exited(this.#child)
  }

  /** Starts the process again, over the same ledger and on the same port; kills it first where it still lives. */
  async restart(): Promise<void> {
    await this.kill()
    const options = { directory: this.directory, port: this.#port, seed: this.#seed, settings: {} }
    this.#child = (await spawnProvider(this.name, options)).child
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  async #post(door: string, body: unknown): Promise<void> {
    await this.#ask("POST", `/_control/${door}`, JSON.stringify(body))
  }

  async #ask(method: string, path: string, body?: string): Promise<void> {
    const answer = await fetch(this.url + path, { method, ...(body === undefined ? {} : { body }) })
    const { error } = (await answer.json()) as { error?: string }
    if (error !== undefined) throw new Error(`the ${this.name} provider refused ${method} ${path}: ${error}`)
  }
}

/** Starts a provider: `stripe`, `mail` or `ticket`. */
export async function startProvider<Name extends ProviderName>(
  name: Name,
  options: StartProviderOptions<Name>,
): Promise<RunningProvider<Name>> {
  return RunningProvider.start(name, options)
}

async function spawnProvider(
  name: ProviderName,
  options: ProviderProgramOptions,
): Promise<{ readonly child: Child; readonly port: number }> {
  const program = fileURLToPath(new URL("./provider-program.js", import.meta.url))
  const child = spawn(process.execPath, [program, name, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  child.stdin.on("error", () => {}) // the child may be gone before its input is closed
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([once(lines, "line"), once(child, "exit")])) as [unknown]
  if (typeof line !== "string") throw new Error(`the ${name} provider ended before it listened`)
  const told = JSON.parse(line) as { port: number } | { error: string }
  if ("error" in told) throw new Error(`the ${name} provider did not start: ${told.error}`)
  return { child, port: told.port }
}

async function exited(child: Child): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
}
