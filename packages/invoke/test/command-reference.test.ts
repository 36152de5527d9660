// Hunts for a page that tells another command than the one that is built, and for a first ten minutes that do not work.
import { execFile, spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Result } from "@invokejs/protocol"
import { expect, test } from "vitest"
import { BIN, Stage } from "./command-stage.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))

test("the reference page is what the command says about itself", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/cli-reference.mjs"), "--check"], {
    encoding: "utf8",
  })
  expect(stderr).toBe("")
  expect(status).toBe(0)
})

test("the package's bin is the program, and says the package's version", async () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "packages/invoke/package.json"), "utf8")) as {
    bin: { invoke: string }
    version: string
  }
  expect(join(ROOT, "packages/invoke", manifest.bin.invoke)).toBe(BIN)
  expect(readFileSync(BIN, "utf8").startsWith("#!/usr/bin/env node\n")).toBe(true)
  const stage = new Stage()
  const text = await stage.run(["--version"])
  expect([text.code, text.stdout]).toEqual([0, `${manifest.version}\n`])
  expect((await stage.json(["--version"])).value).toEqual({ version: manifest.version })
  stage.close()
})

test("help explains the program, a group and a command, however it is asked", async () => {
  const stage = new Stage()
  const [bare, long] = await Promise.all([stage.run([]), stage.run(["--help"])])
  expect(bare).toEqual(long)
  expect(bare.stdout).toContain("Exit codes")
  const command = await Promise.all(
    [
      ["ops", "show", "--help"],
      ["ops", "show", "some id", "-h"],
      ["help", "ops", "show"],
    ].map((args) => stage.run(args)),
  )
  for (const one of command) expect(one).toEqual(command[0])
  expect(command[0]?.stdout).toContain("invoke ops show ID [options]")
  const group = await Promise.all([["audit"], ["audit", "--help"], ["help", "audit"]].map((args) => stage.run(args)))
  for (const one of group) expect(one).toEqual(group[0])
  expect(group[0]?.stdout).toContain("verify")
  stage.close()
})

test("init writes a starter that works as it says, and overwrites nothing", async () => {
  const stage = new Stage()
  // As after \`npm install\`: the starter imports the package by its name.
  mkdirSync(join(stage.folder, "node_modules/@invokejs"), { recursive: true })
  symlinkSync(join(ROOT, "packages/invoke"), join(stage.folder, "node_modules/@invokejs/invoke"))
  symlinkSync(join(ROOT, "node_modules/zod"), join(stage.folder, "node_modules/zod"))

  const { value } = await stage.json<{ written: string[]; next: string }>(["init"])
  const file = join(stage.folder, "tools.js")
  expect(value.written).toEqual([file])
  const starter = readFileSync(file, "utf8")

  const { stdout } = await promisify(execFile)(
    "/bin/sh",
    ["-c", `${value.next.replace("invoke ", `"${process.execPath}" "${BIN}" `)} --json`],
    { cwd: stage.folder, env: {} },
  )
  expect((JSON.parse(stdout) as Result).status).toBe("succeeded")
  expect(readdirSync(join(stage.folder, "notes"))).toEqual(["1.json"])
  const again = await stage.json<Result>([
    ...["call", "notes.write", "--tools", "tools.js", "--params", '{"id":"1","text":"hello"}'],
  ])
  expect(again.value.status).toBe("replayed")

  const refused = await stage.run(["init"])
  expect([refused.code, refused.stdout]).toEqual([2, ""])
  expect(readFileSync(file, "utf8")).toBe(starter)
  const elsewhere = await stage.run(["init", "a/new folder"])
  expect(elsewhere.code).toBe(0)
  expect(readFileSync(join(stage.folder, "a/new folder/tools.js"), "utf8")).toBe(starter)
  stage.close()
})

test("the demo holds, and tells so as JSON", async () => {
  const stage = new Stage()
  const { code, value } = await stage.json<{ ok: boolean; lines: string[] }>(["demo"])
  expect([code, value.ok]).toEqual([0, true])
  expect(value.lines).toContain("All six acts hold.")
  stage.close()
})

test("an interrupt ends what only shows something at once", async () => {
  const stage = new Stage()
  const { code, stdout, stderr } = await stage.run(["demo"], {
    interrupt: (printed) => printed.includes("Act 1"),
    // What the demo cannot clear away any more is left where this test clears it away.
    env: { TMPDIR: stage.folder },
  })
  expect(stdout).not.toContain("All six acts")
  expect([stderr, code]).toEqual(["invoke: interrupted\n", 1])
  stage.close()
})
