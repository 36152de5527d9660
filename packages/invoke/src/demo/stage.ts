/** What the acts play on: the provider and the proxy as processes of their own, and a folder for ledger and journals. */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface, type Interface } from "node:readline"
import { fileURLToPath } from "node:url"
import { startProvider, type FaultRule, type RunningProvider } from "@invokejs/testkit"

export interface Proxy {
  readonly url: string
  /** Replaces the script of faults; the rules are consumed in order. */
  script(rules: readonly FaultRule[]): Promise<void>
}

export interface Stage {
  readonly folder: string
  readonly payments: RunningProvider<"stripe">
  readonly mail: RunningProvider<"mail">
  readonly toPayments: Proxy
  readonly toMail: Proxy
  close(): Promise<void>
}

export async function setStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "invoke-demo-"))
  const payments = await startProvider("stripe", {
    directory: join(folder, "payments"),
    settings: { api_key: "sk_test_demo" },
  })
  const mail = await startProvider("mail", { directory: join(folder, "mail"), settings: { api_key: "sk_test_demo" } })
  const proxies = [await startProxy(payments.url), await startProxy(mail.url)] as const
  return {
    folder,
    payments,
    mail,
    toPayments: proxies[0],
    toMail: proxies[1],
    async close() {
      for (const proxy of proxies) proxy.stop()
      await payments.stop()
      await mail.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startProxy(target: string): Promise<Proxy & { stop(): void }> {
  const program = fileURLToPath(new URL("./proxy-program.js", import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [program, target], { stdio: ["pipe", "pipe", "inherit"] })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error("the proxy has no pipes")
  const lines = createInterface({ input: stdout })
  const { url } = JSON.parse(await nextLine(lines)) as { url: string }
  return {
    url,
    async script(rules) {
      const heard = nextLine(lines)
      stdin.write(`${JSON.stringify(rules)}\n`)
      await heard
    },
    stop() {
      stdin.end()
    },
  }
}

async function nextLine(lines: Interface): Promise<string> {
  const [line] = (await once(lines, "line")) as [string]
  return line
}
