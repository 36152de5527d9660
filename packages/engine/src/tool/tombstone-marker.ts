/**
 * The marker that our tombstones carry, so that they are told from the original and from a stranger's object (protocol §6).
 *
 * TM1. A marker of another operation is a stranger's: a name that it holds proves nothing about this one.
 */
const MARKER = /^fence:([0-9a-zA-Z-]{1,64}):(\d{1,9})$/

export function tombstoneMarker(operation_id: string, generation: number): string {
  return `fence:${operation_id}:${generation}`
}

/** The key generation whose tombstone bears this marker; null where it is not a tombstone of this operation. */
export function tombstoneGeneration(marker: string, operation_id: string): number | null {
  const [, operation, generation] = MARKER.exec(marker) ?? []
  return operation === operation_id && generation !== undefined ? Number(generation) : null
}
