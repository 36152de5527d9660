/**
 * A writer in a thread of its own: the event loop never waits for a flush.
 *
 * TL1. The thread keeps the process alive only while it is held.
 * TL2. When the thread ends, everything unanswered is rejected: whoever asked decides what that means.
 */
import { JournalError } from "@invokejs/engine"
import { Worker } from "node:worker_threads"

import type { WriterLink } from "./group-commit.ts"
import type { BatchReply } from "./journal-writer.ts"
import type { WriterFacts } from "./open-writer.ts"
import type { WriterAnswer, WriterRequest, WriterThreadData } from "./writer-messages.ts"

interface Asked {
  readonly resolve: (answer: BatchReply | null) => void
  readonly reject: (error: unknown) => void
}

type Ask = WriterRequest extends infer R ? (R extends WriterRequest ? Omit<R, "id" | "offset"> : never) : never

export interface OpenedThread {
  readonly link: WriterLink
  readonly facts: WriterFacts
  /** Ends the thread without waiting for anything, as a crash of it would. */
  readonly terminate: () => Promise<void>
}

/** `offset` is asked at every request: the caller's wall clock minus the machine's. */
export async function openThread(data: Omit<WriterThreadData, "offset">, offset: () => number): Promise<OpenedThread> {
  const workerData: WriterThreadData = { ...data, offset: offset() }
  const worker = new Worker(new URL("./writer-thread.js", import.meta.url), {
    workerData,
    execArgv: [],
    name: "invoke-journal",
  })
  const facts = await opened(worker)
  const asked = new Map<number, Asked>()
  let next = 1
  let ended: Error | null = null

  const end = (error: Error): void => {
    ended ??= error
    for (const { reject } of asked.values()) reject(ended)
    asked.clear()
  }
  worker.on("error", end)
  worker.on("exit", (code) => end(new Error(`the writer's thread ended with code ${code}`)))
  worker.on("message", (answer: WriterAnswer) => {
    if (!("id" in answer)) return
    const waiting = asked.get(answer.id)
    asked.delete(answer.id)
    if ("failed" in answer) waiting?.reject(new JournalError(answer.failed.code, answer.failed.message))
    else waiting?.resolve("batch" in answer ? answer.batch : null)
  })
  worker.unref()

  const ask = (request: Ask): Promise<BatchReply | null> =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended)
      const id = next++
      asked.set(id, { resolve, reject })
      worker.postMessage({ ...request, id, offset: offset() } satisfies WriterRequest)
    })

  const link: WriterLink = {
    commit: async (entries) => {
      const batch = await ask({ ask: "commit", entries })
      if (batch === null) throw new Error("a commit was answered without its replies")
      return batch
    },
    copyTo: async (order) => void (await ask({ ask: "copy", order })),
    // Whoever seals does not wait for it: a sibling that lags is safe.
    seal: () => void ask({ ask: "seal" }).catch(() => undefined),
    close: async () => {
      const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
      if (ended) return
      await ask({ ask: "close" })
      await exited
    },
    ended: () => ended !== null,
    hold: (alive) => (alive ? worker.ref() : worker.unref()),
  }
  return { link, facts, terminate: async () => void (await worker.terminate()) }
}

function opened(worker: Worker): Promise<WriterFacts> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(error)
    const exited = (code: number): void =>
      reject(new Error(`the writer's thread ended with code ${code} before it opened`))
    worker.once("error", failed)
    worker.once("exit", exited)
    worker.once("message", (answer: WriterAnswer) => {
      worker.off("error", failed)
      worker.off("exit", exited)
      if ("opened" in answer) return resolve(answer.opened)
      if ("refused" in answer) return reject(new JournalError(answer.refused.code, answer.refused.message))
      reject(new Error("the writer's thread answered before it opened"))
    })
  })
}
