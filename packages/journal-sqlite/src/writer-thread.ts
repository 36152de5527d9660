/** The program of the writer's thread: opens the journal, then answers one request after the other. */
import { parentPort, workerData } from "node:worker_threads"

import { loadDriver } from "./driver.ts"
import type { JournalWriter } from "./journal-writer.ts"
import { openWriter } from "./open-writer.ts"
import { storeFailure } from "./store-failure.ts"
import { systemWall } from "./system-wall.ts"
import type { WriterAnswer, WriterRequest, WriterThreadData } from "./writer-messages.ts"

const { spec, driver: driverName, offset: firstOffset } = workerData as WriterThreadData
let offset = firstOffset

function answer(message: WriterAnswer): void {
  parentPort?.postMessage(message)
}

function failure(
  error: unknown,
  doing: string,
): { readonly code: ReturnType<typeof storeFailure>["code"]; readonly message: string } {
  const { code, message } = storeFailure(error, spec.path, doing)
  return { code, message }
}

function serve(writer: JournalWriter, request: WriterRequest): void {
  offset = request.offset
  try {
    switch (request.ask) {
      case "commit":
        answer({ id: request.id, batch: writer.commit(request.entries) })
        // After the answer has left, so that no caller waits for it.
        writer.checkpoint()
        return
      case "copy":
        writer.copyTo(request.order)
        break
      case "seal":
        writer.sealIfFree()
        break
      case "close":
        writer.close()
        break
    }
    answer({ id: request.id, done: true })
    if (request.ask === "close") parentPort?.close()
  } catch (error) {
    answer({ id: request.id, failed: failure(error, request.ask) })
  }
}

try {
  const driver = await loadDriver(driverName)
  if (driver === null) throw new Error(`this Node has no ${driverName}`)
  const { writer, facts } = openWriter(driver, spec, () => systemWall() + offset)
  parentPort?.on("message", (request: WriterRequest) => serve(writer, request))
  answer({ opened: facts })
} catch (error) {
  answer({ refused: failure(error, "open") })
}
