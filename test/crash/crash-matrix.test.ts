// Hunts: an action that is lost or done twice because a process, a connection, a provider or a write of the journal ended
// at the wrong moment. Processes are real and so is SIGKILL; effects are counted in the provider's ledger.
//
// These are some cells of the matrix. `npm run crash-matrix` runs them all.
import { describe, expect, test } from "vitest"
import { BOUNDARIES, type Cell } from "./cells.mjs"
import { runMatrix } from "./matrix.mjs"
import { nameOf, summaryOf, violationsOf } from "./matrix-report.mjs"

const LONG = 240_000
const LANES = 3

async function run(only: (cell: Cell) => boolean) {
  const all = await runMatrix({ size: "ci", lanes: LANES, only })
  expect(violationsOf(all)).toEqual([])
  return all
}

const GROUP = BOUNDARIES.slice(-2) as readonly string[]
const isGroup = ({ boundary }: Cell) => GROUP.includes(boundary)
const HEAD = BOUNDARIES[1]
const EXECUTED = BOUNDARIES[3]

describe("a process that is killed", () => {
  test(
    "at any boundary of an action that can be looked up leaves one effect and no lost action [CS-5] [ST-1] [R7]",
    async () => {
      const all = await run((cell) => cell.safety === "write-once-checkable" && cell.who === "new" && !isGroup(cell))
      // Every boundary is there, and the effect is in place in all cells but the one that the provider refused for good.
      expect(new Set(all.map(({ run: { cell } }) => cell.boundary)).size).toBe(7)
      expect(summaryOf(all)).toMatchObject({ cells: 13, effects: 12, doubled: 0 })
    },
    LONG,
  )

  test(
    "beside an action that nobody can look up leaves it to a person, and repeats nothing [CS-5] [ST-2] [RP-7]",
    async () => {
      const all = await run(
        ({ safety, who, boundary }) =>
          safety === "irreversible" && who === "new" && (boundary === HEAD || boundary === EXECUTED),
      )
      expect(summaryOf(all)).toMatchObject({ cells: 3, actions: 3, effects: 1, doubled: 0 })
    },
    LONG,
  )

  test(
    "beside an action under a proved key is followed by an attempt under that key [CS-5] [RP-2] [item 2]",
    async () => {
      const all = await run(
        ({ safety, who, boundary }) => safety === "idempotent" && who === "new" && boundary === EXECUTED,
      )
      expect(summaryOf(all)).toMatchObject({ cells: 2, effects: 2, doubled: 0 })
    },
    LONG,
  )

  test(
    "on either side of a commit that several writes share loses none and doubles none [CS-5] [ST-1] [R33]",
    async () => {
      const all = await run((cell) => isGroup(cell) && cell.who === "new" && cell.safety === "write-once-checkable")
      expect(summaryOf(all)).toMatchObject({ cells: 2, actions: 16, effects: 16, doubled: 0 })
    },
    LONG,
  )
})

describe("a process that lives on", () => {
  test(
    "while its connection or provider dies, or a write of its journal fails, does the action once [CS-5] [ST-2] [CS-9]",
    async () => {
      const all = await run((cell) => cell.safety === "write-once-checkable" && cell.who === "same")
      expect(summaryOf(all).doubled).toBe(0)
    },
    LONG,
  )

  test(
    "after it slept past its lease sends nothing, and its news is heard [CS-3] [CS-4] [R6] [R32]",
    async () => {
      const all = await run(
        ({ safety, who, effect }) =>
          who === "frozen" && (safety === "irreversible" || (safety === "write-once-checkable" && !effect)),
      )
      expect(summaryOf(all)).toMatchObject({ cells: 5, doubled: 0 })
    },
    LONG,
  )
})

test(
  "without the dispatch record a kill doubles the effect, and the matrix says so",
  async () => {
    const all = await runMatrix({
      size: "ci",
      lanes: LANES,
      break: "intent_first",
      only: ({ safety, who, boundary, effect }) =>
        boundary === EXECUTED && who === "new" && effect && safety !== "idempotent",
    })
    expect(all.map(({ run: { effects } }) => effects)).toEqual([[2], [2]])
    expect(violationsOf(all)).toContain(`${nameOf(all[0]!.run.cell)} (inline, invoke): repeated: 2 effects`) // two cells ran
  },
  LONG,
)
