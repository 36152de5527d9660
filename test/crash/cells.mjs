// @ts-check
// The cells of the matrix, as data: where a call is interrupted, whether its effect has landed, who goes on, and what must
// be true then.
//
// `ambiguous` is what the class makes of an interruption that leaves the outcome open: a keyed or checkable action is settled
// with exactly one effect; one that nobody can look up goes to a person with the effects as they are.

/** @typedef {import("./outside-tools.mjs").Safety} Safety */
/** @typedef {import("./lane.mjs").Side} Side */
/** @typedef {import("./worker-process.mjs").WorkerProcess} WorkerProcess */
/** @typedef {import("./oracle.mjs").End} End */

/**
 * `new`: SIGKILL, and a new process on the same journal. `same`: the process lives on; its connection, its provider or a
 * write of its journal fails. `frozen`: SIGSTOP past its lease beside a new process, then SIGCONT.
 * @typedef {"new" | "same" | "frozen"} Who
 */

/**
 * @typedef {object} Cell
 * @property {string} boundary
 * @property {string} how
 * @property {Who} who
 * @property {boolean} effect whether the effect had landed when the call was interrupted
 * @property {Safety} safety
 * @property {number} calls
 * @property {import("./journal-seam.mjs").Seam | null} seam
 * @property {import("./commit-seam.mjs").CommitSeam | null} commit_seam
 * @property {boolean} end_writer
 * @property {(side: Side) => Promise<void> | void} prepare
 * @property {(side: Side, worker: WorkerProcess) => Promise<unknown>} reached resolves when the call stands at the boundary
 * @property {(side: Side) => Promise<void>} after what happens outside once the process was stopped, or while it lives on
 * @property {boolean} outlasts_lease whether the way out is the end of a lease, of a worker or of a look
 * @property {End} settled once no work is left, with no caller attached
 * @property {End} repeated once the same call was made again
 */

/** @type {readonly Safety[]} */
export const SAFETIES = ["idempotent", "write-once-checkable", "irreversible"]

export const BOUNDARIES = /** @type {const} */ ([
  "before the admission commit",
  "admitted, before the head write",
  "head written",
  "provider executed, before its answer",
  "answer received, before the outcome commit",
  "outcome committed, before telling",
  "during reconciliation",
  "group commit, before",
  "group commit, after",
])

const GROUP = 8
const ONE = /** @type {End} */ ({ outcome: "ok", effects: 1 })
const NOTHING = /** @type {End} */ ({ outcome: "none", effects: 0 })

/** @typedef {Partial<Omit<Cell, "who">> & Pick<Cell, "how" | "who">} Written */

/** Every cell of one class. @param {Safety} safety @returns {Cell[]} */
export function cellsOf(safety) {
  const lists = [admission, head, wire, provider, answer, outcome, reconciliation, groupBefore, groupAfter]
  return lists.flatMap((list, index) =>
    list(safety).map((written) => ({
      boundary: BOUNDARIES[index] ?? "",
      effect: false,
      safety,
      calls: 1,
      seam: null,
      commit_seam: null,
      end_writer: false,
      prepare: () => {},
      reached: async () => {},
      after: async () => {},
      outlasts_lease: written.who === "frozen",
      settled: ONE,
      repeated: written.settled ?? ONE,
      ...written,
    })),
  )
}

/** @param {Safety} safety @param {boolean} effect @returns {End} */
function ambiguous(safety, effect) {
  return safety === "irreversible" ? { outcome: "review", effects: effect ? 1 : 0 } : ONE
}

/** @type {Cell["reached"]} */
const atWrite = (_side, worker) => worker.says("at")

/** @param {Safety} _safety @returns {Written[]} */
function admission(_safety) {
  return [
    {
      how: "SIGKILL",
      who: "new",
      seam: { on: "admit", act: "pause_before" },
      reached: atWrite,
      settled: NOTHING,
      repeated: ONE,
    },
    {
      how: "the journal refuses the write",
      who: "same",
      seam: { on: "admit", act: "refuse" },
      settled: NOTHING,
      repeated: ONE,
    },
    { how: "doubtful commit that did not take place", who: "same", seam: { on: "admit", act: "doubt_lost" } },
  ]
}

/** @param {Safety} safety @returns {Written[]} */
function head(safety) {
  const paused = /** @type {const} */ ({ seam: { on: "admit", act: "pause_after" }, reached: atWrite })
  /** @type {Written} */
  const second = {
    how: "SIGKILL at attempt 2",
    who: "new",
    seam: { on: "dispatch", act: "pause_after" },
    prepare: refuseOnce,
    reached: atWrite,
  }
  return [
    { how: "SIGKILL", who: "new", ...paused, settled: ambiguous(safety, false) },
    { how: "doubtful commit that took place", who: "same", seam: { on: "admit", act: "doubt" } },
    { how: "doubtful commit, journal out of reach", who: "same", seam: { on: "admit", act: "doubt_blind" } },
    // Awake again, its window is closed and its tool never called: that is proof, so the same call is a retry.
    { how: "SIGSTOP past its lease", who: "frozen", ...paused, settled: ambiguous(safety, false), repeated: ONE },
    ...(safety === "irreversible" ? [] : [second]),
  ]
}

/** A 401 proves non-application and may change. @type {Cell["prepare"]} */
function refuseOnce({ provider }) {
  return provider.answers([{ stage: "before_key", match: { method: "POST" }, status: 401 }])
}

/** A 405 proves non-application for good. @type {Cell["prepare"]} */
function refuseForGood({ provider }) {
  return provider.answers([{ stage: "before_key", match: { method: "POST" }, status: 405 }])
}

const POST = /** @type {const} */ ({ method: "POST" })
const GET = /** @type {const} */ ({ method: "GET" })
const HOLD = /** @type {const} */ ({ kind: "hold" })
const LOSE_ANSWER = /** @type {const} */ ({ kind: "drop_answer", then: "rst" })
const LOSE_REQUEST = /** @type {const} */ ({ kind: "cut", direction: "request", at: { after_bytes: 40 }, by: "rst" })

/** @type {Cell["reached"]} */
const isHeld = ({ proxy }) => proxy.until(() => proxy.held().length > 0)

/** @type {Cell["after"]} */
const lands = async ({ proxy }) => {
  await proxy.release()
}

/** @param {Safety} safety @returns {Written[]} */
function wire(safety) {
  const hold = /** @type {const} */ ({ prepare: scripted([{ match: POST, fault: HOLD }]), reached: isHeld })
  return [
    {
      how: "SIGKILL, it lands later",
      who: "new",
      effect: true,
      ...hold,
      after: lands,
      settled: ambiguous(safety, true),
    },
    { how: "SIGKILL, it never lands", who: "new", ...hold, settled: ambiguous(safety, false) },
    {
      how: "the connection dies, it landed",
      who: "same",
      effect: true,
      prepare: scripted([{ match: POST, fault: [HOLD, LOSE_ANSWER] }]),
      reached: isHeld,
      after: lands,
      settled: ambiguous(safety, true),
    },
    {
      how: "the connection dies half written",
      who: "same",
      prepare: scripted([{ match: POST, fault: LOSE_REQUEST }]),
      settled: ambiguous(safety, false),
    },
  ]
}

/** @param {readonly import("@invokejs/testkit").FaultRule[]} rules @returns {Cell["prepare"]} */
function scripted(rules) {
  return ({ proxy }) => proxy.script(rules)
}

/** @param {import("@invokejs/testkit").GatePlace} place @returns {Pick<Cell, "prepare" | "reached">} */
function gated(place) {
  return { prepare: ({ provider }) => provider.gate(place), reached: ({ provider }) => provider.atGate(1) }
}

/** @type {Cell["after"]} */
const opened = ({ provider }) => provider.gate("open")

/** What waited in it is gone with it. @type {Cell["after"]} */
const restarted = ({ provider }) => provider.restart()

/** @param {import("@invokejs/testkit").AnswerRule["stage"]} stage @returns {Pick<Cell, "prepare" | "reached" | "after">} */
function dying(stage) {
  return {
    prepare: ({ provider }) => provider.answers([{ stage, match: POST, then: "exit" }]),
    reached: ({ provider }) => provider.exited(),
    after: restarted,
  }
}

/** @param {Safety} safety @returns {Written[]} */
function provider(safety) {
  const executed = { ...gated("after_effect"), after: opened, effect: true }
  const lost = { ...gated("before_effect"), after: restarted }
  return [
    { how: "SIGKILL", who: "new", ...executed, settled: ambiguous(safety, true) },
    { how: "SIGKILL, the provider too", who: "new", ...lost, settled: ambiguous(safety, false) },
    {
      how: "the provider dies after it",
      who: "same",
      effect: true,
      ...dying("after_effect"),
      settled: ambiguous(safety, true),
    },
    { how: "the provider dies before it", who: "same", ...dying("execution"), settled: ambiguous(safety, false) },
    // Awake again, it hears the acknowledgement that waited for it: good news is heard in every state.
    { how: "SIGSTOP past its lease", who: "frozen", ...executed, settled: ambiguous(safety, true), repeated: ONE },
    { how: "SIGSTOP, the provider dies", who: "frozen", ...lost, settled: ambiguous(safety, false) },
  ]
}

/** @param {Safety} safety @returns {Written[]} */
function answer(safety) {
  const paused = /** @type {const} */ ({ seam: { on: "outcome", act: "pause_before" }, reached: atWrite })
  const refused = /** @type {const} */ ({ seam: { on: "outcome", act: "refuse", times: 2 } })
  /** An irreversible action has one attempt, and a spent budget stays spent. @type {Pick<Written, "settled">} */
  const refusal = safety === "irreversible" ? { settled: { outcome: "not applied", effects: 0 } } : {}
  return [
    { how: "SIGKILL", who: "new", effect: true, ...paused, settled: ambiguous(safety, true) },
    { how: "SIGKILL after a refusal", who: "new", ...paused, prepare: refuseOnce, settled: ambiguous(safety, false) },
    { how: "the journal refuses the record", who: "same", effect: true, ...refused },
    { how: "it refuses that of a refusal", who: "same", ...refused, prepare: refuseOnce, ...refusal },
  ]
}

/** @param {Safety} _safety @returns {Written[]} */
function outcome(_safety) {
  const paused = /** @type {const} */ ({ seam: { on: "outcome", act: "pause_after" }, reached: atWrite })
  const denied = /** @type {const} */ ({ prepare: refuseForGood, settled: { outcome: "failed", effects: 0 } })
  return [
    { how: "SIGKILL", who: "new", effect: true, ...paused },
    { how: "SIGKILL after a refusal", who: "new", ...paused, ...denied },
    { how: "doubtful commit that took place", who: "same", effect: true, seam: { on: "outcome", act: "doubt" } },
    { how: "doubtful commit of a refusal", who: "same", seam: { on: "outcome", act: "doubt" }, ...denied },
    { how: "doubtful commit that did not", who: "same", effect: true, seam: { on: "outcome", act: "doubt_lost" } },
  ]
}

/** A look in flight, or, where nobody can look, a second attempt under the same key. @param {Safety} safety @returns {Written[]} */
function reconciliation(safety) {
  if (safety === "irreversible") return []
  const means = safety === "idempotent" ? POST : GET
  const refuse = /** @type {const} */ ({ kind: "refuse", by: "rst" })
  /** @param {typeof LOSE_ANSWER | typeof LOSE_REQUEST} first @param {typeof HOLD | typeof refuse} second */
  const during = (first, second) =>
    scripted([
      { match: POST, fault: first },
      { match: means, fault: second },
    ])
  /** The lease of the look outlives the one who looked. @type {Pick<Cell, "reached" | "after" | "outlasts_lease">} */
  const held = { reached: isHeld, after: lands, outlasts_lease: safety === "write-once-checkable" }
  return [
    { how: "SIGKILL", who: "new", effect: true, prepare: during(LOSE_ANSWER, HOLD), ...held },
    { how: "SIGKILL, nothing landed", who: "new", prepare: during(LOSE_REQUEST, HOLD), ...held },
    { how: "its connection dies", who: "same", effect: true, prepare: during(LOSE_ANSWER, refuse) },
    { how: "it dies, nothing landed", who: "same", prepare: during(LOSE_REQUEST, refuse) },
  ]
}

/** @param {Safety} safety @returns {Written[]} */
function groupBefore(safety) {
  return [
    {
      how: "SIGKILL inside COMMIT's transaction",
      who: "new",
      calls: GROUP,
      commit_seam: { when: "before", act: "pause" },
      reached: atWrite,
      settled: { outcome: "any", effects: "any" },
      repeated: eitherWay(safety),
    },
    {
      how: "COMMIT fails, the disk is full",
      who: "same",
      calls: GROUP,
      commit_seam: { when: "before", act: "fail" },
      settled: { outcome: "any", effects: "any" },
      repeated: ONE,
    },
  ]
}

/** @param {Safety} safety @returns {Written[]} */
function groupAfter(safety) {
  return [
    {
      how: "SIGKILL before its answers",
      who: "new",
      calls: GROUP,
      commit_seam: { when: "after", act: "pause" },
      reached: atWrite,
      settled: { outcome: "any", effects: "any" },
      repeated: eitherWay(safety),
    },
    {
      how: "COMMIT says I/O error",
      who: "same",
      calls: GROUP,
      commit_seam: { when: "after", act: "fail" },
      settled: { outcome: "any", effects: "any" },
      repeated: ONE,
    },
    {
      how: "the writer's thread ends",
      who: "same",
      calls: GROUP,
      end_writer: true,
      settled: { outcome: "any", effects: "any" },
      repeated: ONE,
    },
  ]
}

/** Calls whose admission was in the commit, and calls whose admission was not. @param {Safety} safety @returns {End} */
function eitherWay(safety) {
  return safety === "irreversible" ? { outcome: "any", effects: "any" } : ONE
}
