/** Every operation that a filter lets through, a page at a time: a journal may be larger than memory. */
import type { Journal, OperationFilter, Page } from "@invokejs/engine"
import { DEFAULTS, type Operation } from "@invokejs/protocol"

export async function* allOperations(journal: Journal, filter: OperationFilter = {}): AsyncGenerator<Operation> {
  let cursor: string | null = null
  do {
    const page: Page<Operation> = await journal.operations(
      filter,
      cursor === null ? { limit: DEFAULTS.page_max } : { limit: DEFAULTS.page_max, cursor },
    )
    yield* page.items
    cursor = page.next_cursor
  } while (cursor !== null)
}
