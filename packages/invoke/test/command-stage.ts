/** A folder with a ledger and a journal, and the built program run in it as a process of its own. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Result } from "@invokejs/protocol"

export const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url))
export const TOOLS = fileURLToPath(new URL("./command-tools.mjs", import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** Asked again and again, with standard output so far; sends the signal as soon as it is true. */
  readonly interrupt?: (stdout: string) => boolean
  readonly journal?: string
  /** Closes the reading end of standard output before anything is read. */
  readonly closeStdout?: boolean
}

export class Stage {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "invoke-command-")))
  readonly ledger = join(this.folder, "ledger")
  readonly journal = join(this.folder, "invoke.db")

  /** Runs the program in the stage's folder; the environment holds nothing but what is given, and the journal. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const env = { LEDGER: this.ledger, INVOKE_JOURNAL: options.journal ?? this.journal, ...options.env }
    const child = spawn(process.execPath, [BIN, ...args], { cwd: this.folder, env })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    if (options.closeStdout === true) child.stdout.destroy()
    child.stdin.on("error", () => undefined)
    child.stdin.end(options.input ?? "")
    const { interrupt } = options
    // One signal: a second one would end the process at once.
    const watch =
      interrupt &&
      setInterval(() => {
        if (!interrupt(stdout)) return
        clearInterval(watch)
        child.kill("SIGINT")
      }, 50)
    return new Promise((resolve, reject) => {
      child.on("error", reject)
      child.on("close", (code) => {
        clearInterval(watch)
        resolve({ code, stdout, stderr })
      })
    })
  }

  /** Runs with `--json` and answers with what was printed, whatever the exit code. */
  async json<T>(args: readonly string[], options: RunOptions = {}): Promise<{ code: number | null; value: T }> {
    const { code, stdout, stderr } = await this.run([...args, "--json"], options)
    if (stdout === "") throw new Error(`${args.join(" ")} exits with ${code}: ${stderr}`)
    return { code, value: JSON.parse(stdout) as T }
  }

  async call(tool: string, params: object, more: readonly string[] = [], options: RunOptions = {}): Promise<Result> {
    const args = ["call", tool, "--tools", TOOLS, "--params", JSON.stringify(params), "--create", ...more]
    return (await this.json<Result>(args, options)).value
  }

  /** Ids of the effects, as the outside world has them. */
  effects(): string[] {
    if (!existsSync(this.ledger)) return []
    const lines = readFileSync(this.ledger, "utf8").split("\n")
    return lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { id: string }).id)
  }

  /** Whether the provider answers looks. */
  providerDown(down: boolean): void {
    if (down) writeFileSync(`${this.ledger}.down`, "")
    else rmSync(`${this.ledger}.down`, { force: true })
  }

  file(name: string, text: string): string {
    const path = join(this.folder, name)
    writeFileSync(path, text)
    return path
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
