/**
 * Whether an operation's timeline is whole: every event there, in order, unchanged (protocol §12, AU-2).
 *
 * VC1. The hash covers a digest of the data: purged data leaves the chain whole, changed data does not.
 */
import {
  auditPreimage,
  canonicalJson,
  GENESIS_HASH,
  type AuditEvent,
  type Operation,
  type Sha256,
} from "@invokejs/protocol"

export interface ChainFault {
  readonly operation_id: string
  readonly seq: number
  readonly fault: "missing" | "reordered" | "edited" | "data_edited" | "head_differs"
}

export function verifyChain(
  operation: Pick<Operation, "operation_id" | "seq" | "head_hash">,
  events: readonly AuditEvent[],
  sha256: Sha256,
): readonly ChainFault[] {
  const faults: ChainFault[] = []
  const fault = (seq: number, kind: ChainFault["fault"]) =>
    faults.push({ operation_id: operation.operation_id, seq, fault: kind })
  let previous = GENESIS_HASH
  let expected = 1
  for (const event of events) {
    if (event.seq !== expected) fault(expected, event.seq > expected ? "missing" : "reordered")
    if (event.prev_hash !== previous || sha256(auditPreimage(event)) !== event.hash) fault(event.seq, "edited")
    const purged = Object.keys(event.data).length === 1 && event.data["purged"] === true
    if (!purged && sha256(canonicalJson(event.data)) !== event.data_digest) fault(event.seq, "data_edited")
    previous = event.hash
    expected = event.seq + 1
  }
  if (operation.seq !== expected - 1 || (operation.seq > 0 && operation.head_hash !== previous))
    fault(operation.seq, "head_differs")
  return faults
}
