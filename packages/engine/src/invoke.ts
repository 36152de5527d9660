/**
 * What an application holds: calls, guarded functions, reads and waits. It has no operator's verb (protocol §4, HU-4).
 *
 * Owns: the public surface of the embedded engine. Adapters, tools and agents see this object and no other.
 *
 * IN1. `call` answers with a Result, or throws an InvokeError: then nothing ran and nothing was reserved.
 * IN2. `guard`'s function returns what it returned before, or throws an InvokeError that carries the Result.
 */
import { DEFAULTS, InvokeError, type AuditEvent, type Operation, type Result } from "@invokejs/protocol"
import { AttentionWatch, type AttentionListener } from "./attention.ts"
import { answerable, call, journaled } from "./admission/call.ts"
import type { CallOptions } from "./admission/call-options.ts"
import { tellResult } from "./admission/tell-result.ts"
import { checkpoint, type Checkpoint } from "./checkpoints.ts"
import type { SelfTestResult } from "./dispatch/transport/self-test.ts"
import { createTransport } from "./dispatch/transport/transport.ts"
import { Engine, type EngineOptions } from "./engine.ts"
import { checkFilter } from "./operate/check-filter.ts"
import { Operator } from "./operate/operator.ts"
import { checkIdentitiesOf } from "./recover.ts"
import type { Clock } from "./ports/clock.ts"
import type { OperationFilter, Page } from "./ports/journal.ts"
import { compileTool } from "./tool/compile-tool.ts"
import type { AttemptContext } from "./tool/compiled-tool.ts"
import { durationMs, type Duration } from "./tool/duration.ts"
import { guardTool, type Guarded } from "./tool/guard-tool.ts"
import type { TypedResult } from "./tool/call-types.ts"
import type { OutputFrom } from "./tool/outcome.ts"
import type { AnyTool, OutputOf, ParamsOf, ToolName } from "./tool/tool.ts"
import type { GuardOptions } from "./tool/tool-definition.ts"
import { validateTools } from "./tool/validate-tools.ts"

type Options = Omit<CallOptions, "tool" | "params">

export interface OpenOptions<Tools extends readonly AnyTool[]> extends Omit<EngineOptions, "tools"> {
  readonly tools?: Tools
}

export class Invoke<const Tools extends readonly AnyTool[] = readonly AnyTool[]> {
  readonly #engine: Engine
  readonly #attention: AttentionWatch
  readonly #checks = new Map<string, Promise<void>>()

  private constructor(engine: Engine) {
    this.#engine = engine
    this.#attention = new AttentionWatch(engine.context.journal, engine.context.telemetry)
    engine.onIncidents((operation, incidents) => this.#attention.opened(operation, incidents))
  }

  /** Opens an engine on an open journal. Applications use `Invoke.open({ journal: path })` of `@invokejs/invoke`. */
  static async on<const T extends readonly AnyTool[]>(options: OpenOptions<T>): Promise<Invoke<T>> {
    const given: unknown = options.tools ?? []
    if (!Array.isArray(given))
      throw new InvokeError("invalid_request", {
        happened: "tools is a list",
        fix: "Write tools: [chargeCustomer, sendMail].",
        detail: { field: "tools" },
      })
    const tools = (given as readonly AnyTool[]).map((tool) => compileTool(tool))
    validateTools(tools)
    return new Invoke<T>(await Engine.open({ ...options, tools }))
  }

  /** Whether stages may be believed on this machine: its HTTP client is asked over loopback (protocol §5.2). Opens no journal. */
  static async selfTest(options: { readonly clock: Clock }): Promise<SelfTestResult> {
    const transport = createTransport(options)
    try {
      return await transport.selfTest()
    } finally {
      await transport.close()
    }
  }

  /** Makes one business action happen once, and says what is true about it when it settled, a person is needed, or `wait` is over. */
  call(options: CallOptions): Promise<Result> {
    return call(this.#engine.context, options)
  }

  /** `call` with the tool's own types. */
  run<Name extends ToolName<Tools>>(
    tool: Name,
    params: ParamsOf<Tools, Name>,
    options: Options = {},
  ): Promise<TypedResult<OutputOf<Tools, Name>>> {
    return this.call({ ...options, tool, params }) as Promise<TypedResult<OutputOf<Tools, Name>>>
  }

  /** An existing function, guarded: the same parameters, the same output, one effect for each identity. */
  guard<const Name extends string, Params, Returned>(
    fn: (params: Params, context: AttemptContext) => Returned,
    options: GuardOptions<Name, Params, OutputFrom<Returned>>,
  ): Guarded<Params, Returned> {
    const { context } = this.#engine
    const tool = guardTool(fn, options)
    const compiled = compileTool(tool)
    validateTools([compiled])
    context.tools.add(compiled)
    const checked = checkIdentitiesOf(context, compiled)
    // Told by the first call; a function that nobody calls must not end the process.
    checked.catch(() => undefined)
    this.#checks.set(tool.name, checked)
    context.wake()
    return async (params) => {
      await this.#checks.get(tool.name)
      return outputOf(await this.call({ tool: tool.name, params })) as Awaited<ReturnType<Guarded<Params, Returned>>>
    }
  }

  /** The stored record, with its attempts and evidence. */
  operation(operation_id: string): Promise<Operation | null> {
    return journaled(() => this.#engine.context.journal.operation(idOf(operation_id)))
  }

  operations(
    filter: OperationFilter = {},
    page: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<Page<Operation>> {
    return journaled(() => {
      checkFilter(filter)
      const limit = limitOf(page.limit)
      return this.#engine.context.journal.operations(
        filter,
        page.cursor === undefined ? { limit } : { limit, cursor: page.cursor },
      )
    })
  }

  /** What is true of an operation when it settled, a person is needed, or `wait` is over. Runs nothing. */
  async wait(
    operation_id: string,
    options: { readonly wait?: Duration; readonly signal?: AbortSignal } = {},
  ): Promise<Result> {
    const { context } = this.#engine
    const wait_ms = durationOf(options.wait, "wait") ?? DEFAULTS.wait_ms
    const operation = await this.operation(operation_id)
    if (!operation)
      throw new InvokeError("operation_not_found", {
        happened: `there is no operation ${operation_id}`,
        detail: { operation_id },
      })
    const row = await context.watch.wait(operation, {
      enough: answerable,
      wait_ms,
      ...(options.signal ? { signal: options.signal } : {}),
    })
    return tellResult(context, row, "later")
  }

  /** The operation's timeline, oldest first. */
  async timeline(operation_id: string): Promise<readonly AuditEvent[]> {
    const events: AuditEvent[] = []
    for (;;) {
      const after = events.at(-1)?.seq ?? 0
      const page = await journaled(() =>
        this.#engine.context.journal.events(idOf(operation_id), after, DEFAULTS.page_max),
      )
      events.push(...page)
      if (page.length < DEFAULTS.page_max) return events
    }
  }

  /** Every event in commit order, from a cursor on; for those who follow along. */
  events(
    after: string | null = null,
    limit: number = DEFAULTS.page,
  ): Promise<{ readonly events: readonly AuditEvent[]; readonly cursor: string | null }> {
    return journaled(() => this.#engine.context.journal.stream(after, limitOf(limit)))
  }

  checkpoint(checkpoint_id: string, options: { readonly tenant?: string } = {}): Checkpoint {
    return checkpoint(this.#engine.context.journal, checkpoint_id, options.tenant)
  }

  /** Called when an operation needs a person. Returns a function that stops it. */
  on(event: "attention", listener: AttentionListener): () => void {
    if (event !== "attention")
      throw new InvokeError("unsupported_option", {
        happened: `there is no event ${String(event)}`,
        detail: { option: String(event) },
      })
    if (typeof listener !== "function")
      throw new InvokeError("invalid_request", { happened: "a listener is a function", detail: { field: "listener" } })
    return this.#attention.on(listener)
  }

  /** The verbs of people. Hand it to operators' code only. */
  operator(options: { readonly name: string }): Operator {
    return new Operator(this.#engine.context, options?.name)
  }

  /** Only the named verbs, for application code that needs a few of them. */
  rights<const Verb extends keyof Operator>(
    verbs: readonly Verb[],
    options: { readonly name?: string } = {},
  ): Pick<Operator, Verb> {
    const operator = new Operator(this.#engine.context, options.name ?? "application")
    const narrow: Partial<Record<keyof Operator, unknown>> = {}
    for (const verb of verbs) {
      const method = operator[verb]
      if (typeof method !== "function")
        throw new InvokeError("unsupported_option", {
          happened: `there is no verb ${String(verb)}`,
          detail: { option: String(verb) },
        })
      narrow[verb] = (method as (...args: unknown[]) => unknown).bind(operator)
    }
    return narrow as Pick<Operator, Verb>
  }

  /** Stops taking calls, waits for running attempts, and closes the journal. */
  async close(options: { readonly drain?: Duration } = {}): Promise<void> {
    const drain = durationOf(options.drain, "drain")
    this.#attention.close()
    await this.#engine.close(drain)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** For drivers and tests: runs the background loop until nothing is due. */
  settle(): Promise<void> {
    return this.#engine.reconciler.settle()
  }
}

function idOf(operation_id: unknown): string {
  if (typeof operation_id === "string" && operation_id !== "") return operation_id
  throw new InvokeError("invalid_request", {
    happened: "an operation id is a string",
    detail: { field: "operation_id" },
  })
}

function limitOf(limit: unknown = DEFAULTS.page): number {
  if (typeof limit === "number" && Number.isInteger(limit) && limit >= 1) return Math.min(limit, DEFAULTS.page_max)
  throw new InvokeError("invalid_request", { happened: "limit is a whole number from 1", detail: { field: "limit" } })
}

function durationOf(value: unknown, field: string): number | undefined {
  if (value === undefined) return undefined
  const ms = durationMs(value)
  if (ms !== null) return ms
  throw new InvokeError("invalid_request", {
    happened: `${field} is not a duration: write milliseconds as a number, or "20s", "5m"`,
    detail: { field },
  })
}

function outputOf(result: Result): unknown {
  if (result.ok) return result.output
  const code = result.settled ? "not_in_place" : "unsettled"
  throw new InvokeError(code, {
    result,
    happened: `operation ${result.operation_id} is ${result.status}`,
    detail: { operation_id: result.operation_id, status: result.status },
  })
}
