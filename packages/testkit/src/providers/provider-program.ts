/**
 * The process of one provider: `node provider-program.js <name> <options as JSON>`. It prints `{"port": n}` when it
 * listens, or `{"error": "…"}`, and ends when its standard input closes, so that it never outlives who started it.
 */
import process from "node:process"
import { Ledger } from "./ledger.ts"
import { listen } from "./provider-http.ts"
import { freshSeed } from "./provider-ids.ts"
import { PROVIDER_KINDS, type ProviderName } from "./provider-kinds.ts"
import { ProviderServer, type ProviderKind } from "./provider-server.ts"
import type { CommonSettings } from "./provider-settings.ts"

export interface ProviderProgramOptions {
  readonly directory: string
  readonly port: number
  readonly seed: string | null
  readonly settings: Readonly<Record<string, unknown>>
}

async function run<Settings extends CommonSettings>(
  kind: ProviderKind<Settings>,
  options: ProviderProgramOptions,
): Promise<void> {
  // An exit is a crash: nothing is flushed, closed or answered.
  const provider = new ProviderServer(kind, new Ledger(options.directory), {
    seed: options.seed ?? freshSeed(),
    exit: () => process.kill(process.pid, "SIGKILL"),
  })
  if (Object.keys(options.settings).length > 0) provider.change(options.settings)
  const { port } = await listen(provider, options.port)
  process.stdin.on("close", () => process.exit(0))
  process.stdin.resume()
  process.stdout.write(`${JSON.stringify({ port })}\n`)
}

const [name, options] = process.argv.slice(2)
if (name === undefined || options === undefined || !Object.hasOwn(PROVIDER_KINDS, name)) {
  process.stderr.write(`usage: provider-program <${Object.keys(PROVIDER_KINDS).join("|")}> <options as JSON>\n`)
  process.exit(2)
}
// Each kind is opened with the settings it was made for; that the name chose it is all that is lost here.
const kind = PROVIDER_KINDS[name as ProviderName] as ProviderKind<CommonSettings>
try {
  await run(kind, JSON.parse(options) as ProviderProgramOptions)
} catch (error) {
  const told = error instanceof Error ? error.message : String(error)
  process.stdout.write(`${JSON.stringify({ error: told })}\n`, () => process.exit(1))
}
