/** What the command gets from the process it runs in; read once, in `bin.ts`. */
import type { Clock } from "@invokejs/engine"

export interface World {
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** All of standard input. */
  readonly stdin: () => Promise<string>
  /** Whether standard output is a terminal that wants colour. */
  readonly colour: boolean
  /** The environment's `INVOKE_JOURNAL`. */
  readonly journal: string | undefined
  /** Who acts where `--as` names nobody: the user of the operating system. */
  readonly user: string
  /** The folder that relative paths start from. */
  readonly folder: string
  readonly clock: Clock
  /** Aborted by the first interrupt: it ends waiting, never an operation. */
  readonly interrupted: AbortSignal
  readonly version: string
  readonly node: string
  readonly platform: string
}
