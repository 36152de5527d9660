/** Parameters as the user gives them: JSON itself, `@FILE`, or `-` for standard input. */
import { DEFAULTS, InvokeError, NotJsonError, parseJson, type Json } from "@invokejs/protocol"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { Run } from "./define-command.ts"

export async function readParams(run: Run, given: string): Promise<Json> {
  const text = await textOf(run, given)
  try {
    return parseJson(text, { bytes_max: DEFAULTS.params_bytes_max })
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    if (error.code === "too_large") {
      throw new InvokeError("payload_too_large", {
        happened: `the parameters are larger than ${DEFAULTS.params_bytes_max} bytes`,
        detail: { bytes_max: DEFAULTS.params_bytes_max },
      })
    }
    throw badParams(`--params: ${error.message}`, error)
  }
}

async function textOf(run: Run, given: string): Promise<string> {
  if (given === "-") return run.world.stdin()
  if (!given.startsWith("@")) return given
  const path = resolve(run.world.folder, given.slice(1))
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    const missing = (error as { code?: unknown }).code === "ENOENT"
    throw badParams(`--params: ${path} ${missing ? "is not there" : "cannot be read"}`, error)
  }
}

function badParams(happened: string, cause: unknown): InvokeError {
  return new InvokeError("invalid_request", {
    happened,
    fix: `Write --params '{"invoice":"84721"}', --params @FILE, or --params - for standard input.`,
    detail: { field: "params" },
    cause,
  })
}
