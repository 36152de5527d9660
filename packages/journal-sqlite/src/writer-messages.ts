/** What the caller's thread and the writer's thread say to each other: plain data. */
import type { JournalErrorCode } from "@invokejs/engine"

import type { CopyOrder } from "./backup.ts"
import type { DriverName } from "./driver.ts"
import type { Entry } from "./entries.ts"
import type { BatchReply } from "./journal-writer.ts"
import type { WriterFacts, WriterSpec } from "./open-writer.ts"

export interface WriterThreadData {
  readonly spec: WriterSpec
  readonly driver: DriverName
  /** The caller's wall clock minus the machine's. */
  readonly offset: number
}

export type WriterRequest =
  | { readonly id: number; readonly offset: number; readonly ask: "commit"; readonly entries: readonly Entry[] }
  | { readonly id: number; readonly offset: number; readonly ask: "copy"; readonly order: CopyOrder }
  | { readonly id: number; readonly offset: number; readonly ask: "seal" | "close" }

export interface WriterFailure {
  readonly code: JournalErrorCode
  readonly message: string
}

export type WriterAnswer =
  | { readonly opened: WriterFacts }
  | { readonly refused: WriterFailure }
  | { readonly id: number; readonly batch: BatchReply }
  | { readonly id: number; readonly done: true }
  | { readonly id: number; readonly failed: WriterFailure }
