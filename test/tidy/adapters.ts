// The files that may touch what everybody else gets as a parameter: the clock, randomness, ids, the environment, output.
//
// A new adapter is a line here, with the reason why the thing has to be touched there. A line that nothing needs is a finding.

export type BannedKind = "time" | "timers" | "randomness" | "environment" | "output" | "network"

export interface Adapter {
  readonly path: string
  readonly may: readonly BannedKind[]
  readonly reason: string
}

export const adapters: readonly Adapter[] = [
  {
    path: "packages/engine/src/adapters/system-clock.ts",
    may: ["time", "timers"],
    reason: "the Clock port on the machine's own clocks",
  },
  {
    path: "packages/engine/src/adapters/system-ids.ts",
    may: ["randomness"],
    reason: "the Ids and Random ports on the machine's own randomness",
  },
  {
    path: "packages/invoke/src/bin.ts",
    may: ["environment"],
    reason: "the program reads its environment and hands the values on",
  },
  {
    path: "packages/invoke/src/demo/acts.ts",
    may: ["network", "timers"],
    reason: "the demo plays an agent without Invoke, and watches other processes",
  },
  {
    path: "packages/journal-sqlite/src/system-wall.ts",
    may: ["time"],
    reason: "the writer's thread cannot call a clock that lives in another thread",
  },
  {
    path: "packages/testkit/src/fault-proxy/proxy-timer.ts",
    may: ["timers"],
    reason: "the fault proxy stands outside: it delays real bytes on real sockets",
  },
  {
    path: "packages/testkit/src/providers/provider-clock.ts",
    may: ["time"],
    reason: "a stand-in provider has a clock of its own, as the real one does",
  },
  {
    path: "packages/testkit/src/providers/provider-ids.ts",
    may: ["randomness"],
    reason: "a stand-in provider makes its own object ids",
  },
  {
    path: "packages/testkit/src/providers/provider-timer.ts",
    may: ["timers"],
    reason: "a stand-in provider takes real time to answer",
  },
  {
    path: "packages/testkit/src/providers/start-provider.ts",
    may: ["network"],
    reason: "asks its own child process on the loopback address whether it is up, outside of any operation",
  },
]
