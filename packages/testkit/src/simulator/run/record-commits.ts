/** What the journal took down, with the true time of it: the oracle's own record of dispatches and of what was seen of resources. */
import type { JournalWrite } from "@invokejs/engine"
import { isTerminal } from "@invokejs/protocol"
import type { World } from "./world.ts"

export function recordCommits(world: World): void {
  world.store.onWritten = (write, at) => {
    const { operation_id } = write.operation.next
    if (write.kind === "admit") world.history.admissions.push({ at: world.scheduler.now, operation_id })
    if (isTerminal(write.operation.next.state))
      world.history.settlements.push({ at: world.scheduler.now, operation_id })
    recordDispatch(world, write, at)
    recordLook(world, write)
    recordBytes(world, write)
  }
}

function recordDispatch({ history, scheduler, store }: World, write: JournalWrite, at: number): void {
  const { next } = write.operation
  const attempt = next.attempts.at(-1)
  if (write.kind === "advance" || !write.lease || !attempt) return
  history.records.push({
    operation_id: next.operation_id,
    attempt: attempt.attempt,
    committed_at: scheduler.now,
    budget_ms: attempt.send_before - at,
    in_quarantine: store.quarantine !== null,
    bytes_known_at: null,
  })
}

function recordBytes({ history, scheduler }: World, { operation }: JournalWrite): void {
  const { operation_id, attempts } = operation.next
  for (const { attempt, request_digest } of attempts) {
    if (request_digest === undefined) continue
    const record = history.records.findLast((one) => one.operation_id === operation_id && one.attempt === attempt)
    if (record) record.bytes_known_at ??= scheduler.now
  }
}

function recordLook({ history, scheduler }: World, write: JournalWrite): void {
  const { next } = write.operation
  if (next.resource === null || write.kind !== "advance") return
  const finding = next.evidence.at(-1)?.finding
  if (finding?.kind !== "look") return
  for (const { version } of finding.candidates) {
    if (version === undefined) continue
    const { operation_id, resource } = next
    history.looks.push({ at: scheduler.now, resource, operation_id, version: Number(version) })
  }
}
