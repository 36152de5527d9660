/** What the tools of a process reach, and what their parameters are. */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { FaultCounts } from "../fault-counts.ts"
import type { SeededRandom } from "../seeded-random.ts"
import type { Scheduler } from "../scheduler.ts"
import type { NetworkFaults } from "../world/sim-network.ts"
import type { SimProcess } from "../world/sim-process.ts"
import type { LookFaults, SimProvider } from "../world/sim-provider.ts"
import type { Executions } from "./executions.ts"
import type { ToolKind } from "./tool-kinds.ts"

export interface ToolFaults {
  /** A tool that sends late, or whose call ends hours later. */
  readonly tool_stall: number
  readonly tool_hours: number
  /** It asks for a second effect. */
  readonly second_effect: number
}

export interface ToolVersion {
  readonly version: string
  /** A version of the request's body. */
  readonly body: number
  /** `wrong`: another function under the name of the first. */
  readonly identity: "1" | "2" | "wrong"
  /** The contract says less of the provider than before. */
  readonly wider: boolean
}

export interface ToolWorld {
  readonly process: SimProcess
  readonly scheduler: Scheduler
  readonly random: SeededRandom
  readonly counts: FaultCounts
  readonly faults: () => NetworkFaults & LookFaults & ToolFaults
  readonly provider: (kind: ToolKind) => SimProvider
  readonly executions: Executions
  readonly version: ToolVersion
}

export interface Params {
  readonly action: string
  /** What others see of it: the customer, the title, the resource. */
  readonly label: string
  /** Of a state. */
  readonly value: string
  readonly note: string
}

export const PARAMS: StandardSchemaV1<Params> = {
  "~standard": {
    version: 1,
    vendor: "simulator",
    validate: (value) => {
      const { action, label, value: set, note } = (value ?? {}) as Partial<Params>
      if (typeof action !== "string" || typeof label !== "string") return { issues: [{ message: "no action" }] }
      return { value: { action, label, value: set ?? "", note: note ?? "" } }
    },
  },
}
