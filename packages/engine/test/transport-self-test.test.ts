// Hunts: an HTTP client that reports stages wrongly and is believed. Each broken client here is one that some version
// was, or could be.
import type { Dispatcher } from "undici"
import { describe, expect, test } from "vitest"

import type { AttemptObservation } from "@invokejs/engine"
import { neverLeft, STAGES } from "@invokejs/engine/internal"
import { bench, POST, startOutside } from "./transport-outside.ts"

type Wrap = (dispatcher: Dispatcher) => Pick<Dispatcher, "dispatch">

const wrapping =
  (handle: (handler: Dispatcher.DispatchHandler) => Dispatcher.DispatchHandler): Wrap =>
  (dispatcher) => ({ dispatch: (options, handler) => dispatcher.dispatch(options, handle(handler)) })

const forward = (handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler => ({
  onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
  onResponseStart: (...told) => handler.onResponseStart?.(...told),
  onResponseData: (...told) => handler.onResponseData?.(...told),
  onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
  onResponseError: (...told) => handler.onResponseError?.(...told),
})

const BROKEN: readonly (readonly [string, Wrap, RegExp])[] = [
  [
    "never tells that a request starts",
    wrapping((handler) => ({ ...forward(handler), onRequestStart: () => {} })),
    /executed, then reset: stage connecting/,
  ],
  [
    "does not listen when a head is refused",
    wrapping((handler) => ({
      ...forward(handler),
      onRequestStart: (controller, context) =>
        handler.onRequestStart?.(
          new Proxy(controller, { get: (of, key) => (key === "abort" ? () => {} : (Reflect.get(of, key) as unknown)) }),
          context,
        ),
    })),
    /window closed: the server executed 1/,
  ],
  [
    "sends by itself once more",
    (dispatcher) => ({
      dispatch: (options, handler) => {
        dispatcher.dispatch(options, { ...forward(handler), onRequestStart: () => {} })
        return dispatcher.dispatch(options, handler)
      },
    }),
    /executed/,
  ],
  [
    "tells of a start before there is a connection",
    (dispatcher) => ({
      dispatch: (options, handler) => {
        const controller = {
          aborted: false,
          paused: false,
          reason: null,
          abort: () => {},
          pause: () => {},
          resume: () => {},
        }
        handler.onRequestStart?.(controller, {})
        return dispatcher.dispatch(options, { ...forward(handler), onRequestStart: () => {} })
      },
    }),
    /window closed: the server executed 1/,
  ],
]

describe("the self-test", () => {
  test("passes with the client that is pinned [R26]", async () => {
    expect(await bench().transport.selfTest()).toEqual({ ok: true })
  })

  test.each(BROKEN)("fails with a client that %s [R26]", async (_name, wrapDispatcher, reason) => {
    const result = await bench({ wrapDispatcher }).transport.selfTest()
    expect(result).toMatchObject({ ok: false, reason: expect.stringMatching(reason) as string })
  })

  test("fails, and does not throw, when the client does [R26]", async () => {
    const wrapDispatcher: Wrap = () => ({
      dispatch: () => {
        throw new Error("broken")
      },
    })
    expect(await bench({ wrapDispatcher }).transport.selfTest()).toMatchObject({ ok: false })
  })

  test("leaves the transport as it was [R26]", async () => {
    const outside = await startOutside()
    const { transport, attempt } = bench()
    await transport.selfTest()
    expect((await attempt().fetch(outside.url, POST)).status).toBe(200)
  })
})

test("a closed transport sends nothing and says so [RP-5]", async () => {
  const outside = await startOutside()
  const { transport, attempt } = bench()
  const before = attempt()
  await transport.close()
  for (const tried of [before, attempt()]) {
    await expect(tried.fetch(outside.url, POST)).rejects.toMatchObject({ code: "transport_closed" })
  }
  expect(outside.connections).toBe(0)
})

describe("neverLeft", () => {
  const unsent: AttemptObservation = {
    stage: "connecting",
    effect_requested: true,
    second_effect: false,
    ended: true,
    effect_wire_requests: 0,
    wire_requests: 3,
    status: null,
    headers: {},
    provider_request_id: null,
    digest: null,
    error: null,
  }

  test("is a positive proof: each of its conditions is needed [R1] [R7] [ST-3]", () => {
    expect(neverLeft(unsent)).toBe(true)
    const missing: readonly Partial<AttemptObservation>[] = [
      { effect_requested: false },
      { second_effect: true },
      { ended: false },
      { effect_wire_requests: 1 },
      { status: 200 },
    ]
    for (const part of missing) expect(neverLeft({ ...unsent, ...part })).toBe(false)
  })

  test("no stage from head_written on is a proof [ST-3]", () => {
    const proofs = STAGES.filter((stage) => neverLeft({ ...unsent, stage }))
    expect(proofs).toEqual(["requested", "connecting"])
  })
})
