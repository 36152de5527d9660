/** How a fault of a definition is said: what, at which tool and option, and the fix as code. */
import { InvokeError, type ErrorCode } from "@invokejs/protocol"

export interface DefinitionFault {
  readonly tool: string
  /** The option, as the author writes it: `contract.key.retention`. */
  readonly path: string
  readonly what: string
  /** One sentence with the code to write. */
  readonly fix: string
  readonly cause?: unknown
}

export function definitionError(code: ErrorCode, fault: DefinitionFault): InvokeError {
  return new InvokeError(code, {
    happened: `tool "${fault.tool}": ${fault.what}`,
    fix: fault.fix,
    detail:
      code === "unsupported_option" ? { tool: fault.tool, option: fault.path } : { tool: fault.tool, path: fault.path },
    ...(fault.cause === undefined ? {} : { cause: fault.cause }),
  })
}
