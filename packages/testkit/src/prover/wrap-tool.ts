/** The tool of a case: attempts run one instance of it, looks another, and both are noticed when they begin and end. */
import type { AnyTool, AttemptContext, ProbeContext } from "@invokejs/engine"

/** A compiled definition's functions; the engine reads the same ones. */
export interface Definition {
  readonly run: (params: unknown, context: AttemptContext) => unknown
  readonly look?: (params: unknown, context: ProbeContext) => unknown
  readonly wall?: (params: unknown, context: ProbeContext & { readonly marker: string }) => unknown
}

export interface Started {
  readonly at: number
  readonly operation_id: string
  readonly attempt: number
  readonly provider_key: string
}

export interface Notices {
  begin(side: "call" | "look"): void
  end(side: "call" | "look"): void
  /** False: the tool is not called, and nothing is heard of it any more. */
  attempt(started: Started): boolean
}

export function wrapTool(attempts: AnyTool, looks: Definition, notices: Notices): AnyTool {
  const definition = attempts["~definition"] as Definition
  const noticed = async (side: "call" | "look", run: () => unknown): Promise<unknown> => {
    notices.begin(side)
    try {
      return await run()
    } finally {
      notices.end(side)
    }
  }
  const { look, wall } = looks
  return {
    ...attempts,
    "~definition": {
      ...definition,
      run: (params: unknown, context: AttemptContext) => {
        const { operationId: operation_id, attempt, providerKey: provider_key } = context
        if (!notices.attempt({ at: 0, operation_id, attempt, provider_key })) return new Promise(() => undefined)
        return noticed("call", () => definition.run(params, context))
      },
      ...(look
        ? { look: (params: unknown, context: ProbeContext) => noticed("look", () => look(params, context)) }
        : {}),
      ...(wall
        ? {
            wall: (params: unknown, context: ProbeContext & { readonly marker: string }) =>
              noticed("call", () => wall(params, context)),
          }
        : {}),
    },
  }
}
