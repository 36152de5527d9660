/** What a journal hands to the conformance suite: a store that can be opened again and again, also by other processes. */
import type { Journal } from "@invokejs/engine"

/** How somebody with write access to the store's files or tables might falsify an operation's timeline. */
export type Tampering = "edit_event" | "edit_data" | "drop_event" | "drop_last_event" | "edit_actor"

export interface JournalStore {
  /** Opens the store as another process would. `wall_offset_ms` is added to the clock that the journal is given. */
  open(options?: { readonly wall_offset_ms?: number }): Promise<Journal>
  /** A module that exports `openForChild(argument): Promise<Journal>`: how a child process opens the same store. */
  readonly child: { readonly module: string; readonly argument: string }
  /** Falsifies the operation's timeline behind the journal's back. Called while no journal is open. */
  tamper(operation_id: string, how: Tampering): void
  /** Makes the store look restored or copied at the next open. Called while no journal is open. */
  forgetIncarnation(): void
  /** Removes the store. Called after every journal was closed. */
  dispose(): void
}

/** What a case can need beside the port itself. */
export type Capability = "processes"

export interface JournalSubject {
  readonly name: string
  /** What its stores cannot do: a store in memory is not opened by another process. Such cases are withheld, and listed. */
  readonly without?: readonly Capability[]
  /** A new, empty store. */
  create(): Promise<JournalStore>
}
