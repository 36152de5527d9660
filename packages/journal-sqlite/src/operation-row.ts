/** An operation as its row says it: the body, and the columns that the journal moves by itself. */
import type { Operation } from "@invokejs/protocol"

import type { Sealed } from "./apply-write.ts"

export const OPERATION_COLUMNS = "body, seq, head_hash, duplicates, duplicated_at"

export interface OperationRow extends Sealed {
  readonly body: string
}

export function operationOf(row: OperationRow): Operation {
  return withSealed(JSON.parse(row.body) as Operation, row)
}

export function withSealed(operation: Operation, { seq, head_hash, duplicates, duplicated_at }: Sealed): Operation {
  return { ...operation, seq, head_hash, duplicates: { count: duplicates, last_at: duplicated_at } }
}
