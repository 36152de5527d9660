/** The fault proxy as a process: prints its address, takes a script of faults per input line, ends with its input. */
import { createInterface } from "node:readline"
import { FaultProxy, type FaultRule } from "@invokejs/testkit"

const proxy = await FaultProxy.start({ target: process.argv[2] ?? "" })
process.stdout.write(`${JSON.stringify({ url: proxy.url })}\n`)
for await (const line of createInterface({ input: process.stdin })) {
  proxy.script(JSON.parse(line) as FaultRule[])
  process.stdout.write("{}\n")
}
await proxy.close()
