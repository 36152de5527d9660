/** Tools that each have one thing wrong, and the name under which the prover has to find it. */
import { absent, found, outcome, unsure, type AttemptContext, type ProbeContext } from "@invokejs/engine"
import { id, text } from "@invokejs/protocol"
import type { ProveEntry } from "@invokejs/testkit"
import {
  charge,
  list,
  look,
  LOOKUP,
  moduleOf,
  payTool,
  send,
  stateOf,
  type Bill,
  type FakeOptions,
  type Over,
} from "./prover-fakes.ts"

type Call = AttemptContext & { readonly params: Bill }
type Look = ProbeContext & { readonly params: Bill }

export interface BadTool {
  readonly what: string
  readonly over: (url: string) => Over
  readonly entry?: Partial<ProveEntry>
  readonly fake?: FakeOptions
  /** The cause that has to be named, in this case among others. */
  readonly code: string
  readonly verdict: string
  readonly in: string
  /** Words that have to be in what the author reads. */
  readonly says: RegExp
  /** Where a case takes long: only these. */
  readonly only?: readonly string[]
  /** Other causes that the same fault rightly comes under. */
  readonly also?: readonly string[]
}

const KEY = {
  sentAs: "header:Idempotency-Key",
  retention: "24h",
  replay: "stored",
  inFlight: "refuses",
  onMismatch: "refuses",
  proved: { date: "2026-01-01", against: "the fake" },
} as const

const KEYED = { contract: { lookup: LOOKUP, key: KEY }, safety: "idempotent" } as const
const DAY_MS = 86_400_000

export const BAD_TOOLS: readonly BadTool[] = [
  {
    what: "returns on HTTP 500",
    over: (url) => ({ execute: async (call: Call) => (await send(url, call)).text() }),
    code: "returns_on_error",
    verdict: "lost_effect",
    in: "status.500_before",
    says: /your tool returns on HTTP 500.*applied: "2xx"/s,
  },
  {
    what: "catches every error and returns",
    over: (url) => ({ execute: (call: Call) => charge(url, call).catch(() => null) }),
    code: "returns_without_answer",
    verdict: "lost_effect",
    in: "request.first_byte",
    says: /returns although its request got no whole answer.*Let the error of the client through/s,
    also: ["returns_on_error"],
  },
  {
    what: "calls every error a refusal",
    over: (url) => ({
      execute: (call: Call) =>
        charge(url, call).catch(() => {
          throw outcome.notApplied({ code: "failed" })
        }),
    }),
    code: "says_not_applied",
    verdict: "duplicate_effect",
    in: "answer.lost_rst",
    says: /said that nothing was applied.*outcome.notApplied/s,
    also: ["believes_status"],
  },
  {
    what: "has a probe that matches by name and takes any object for its own",
    over: (url) => ({
      probe: async ({ params, operationId, signal }: Look) => {
        const [one] = await list(url, `invoice=${params.invoice}`, signal)
        return one ? found({ id: one.id, operationId, state: stateOf(one) }) : absent({ complete: true })
      },
    }),
    code: "found_a_strangers_object",
    verdict: "lost_effect",
    in: "stranger.equal_before",
    says: /somebody else's object.*what the object carries/s,
  },
  {
    what: "has a probe that never says that it saw everything",
    over: (url) => ({
      probe: async (on: Look) => {
        const seen = await look(url, on)
        return seen.kind === "found" ? seen : absent({ complete: false })
      },
    }),
    code: "never_complete",
    verdict: "never_complete",
    in: "request.first_byte",
    says: /never says `complete: true`.*every page/s,
  },
  {
    what: "looks into a search index that lags, and calls it bounded by ten seconds",
    over: () => ({}),
    fake: { lag_ms: 600_000 },
    code: "lookup_is_behind",
    verdict: "duplicate_effect",
    in: "answer.lost_rst",
    says: /looks answered `absent` while the effect was there.*visibility: "/s,
  },
  {
    what: "looks into a list whose lag its author knows and does not declare",
    over: () => ({}),
    fake: { facts: { showsWithin: "10m" } },
    code: "lookup_is_behind",
    verdict: "duplicate_effect",
    in: "look.behind",
    says: /visibility: "10 min"/,
  },
  {
    what: "sends a key of its own for each attempt",
    over: (url) => ({
      ...KEYED,
      execute: (call: Call) => charge(url, call, { "idempotency-key": `${call.operationId}-${call.attempt}` }),
    }),
    fake: { keys_ms: DAY_MS },
    code: "key_not_the_providers",
    verdict: "duplicate_effect",
    in: "look.fails_applied",
    says: /different keys at header:Idempotency-Key.*`providerKey`/s,
  },
  {
    what: "declares a key that the provider forgets",
    over: (url) => ({
      ...KEYED,
      execute: (call: Call) => charge(url, call, { "idempotency-key": call.providerKey }),
    }),
    fake: { keys_ms: 3_600_000 },
    code: "key_executes_again",
    verdict: "wrong_class",
    in: "key.replayed_late",
    says: /retention.*24 h/s,
  },
  {
    what: "makes two effects in one attempt",
    over: (url) => ({
      execute: async (call: Call) => {
        await charge(url, { ...call, params: { ...call.params, invoice: "fee" } })
        return charge(url, call)
      },
    }),
    code: "second_effect",
    verdict: "duplicate_effect",
    in: "clean",
    says: /one attempt made 2 effects.*several tools/s,
  },
  {
    what: "declares a Q that is shorter than the provider's queue",
    over: () => ({}),
    fake: { facts: { landsWithin: "20m" } },
    code: "acts_later_than_declared",
    verdict: "duplicate_effect",
    in: "time.lands_late",
    says: /maxExecution` says 60 s.*20 min/s,
  },
  {
    what: "takes its identity from free text",
    over: () => ({ identity: (p: Bill) => ({ memo: text(p.memo ?? "") }) }),
    entry: { params: { invoice: "84721", amount: 50_000, memo: "Consulting work in June" } },
    code: "identity_from_words",
    verdict: "duplicate_effect",
    in: "repeat.reworded_memo",
    says: /other words in `memo`.*Take `memo` out of `identity`/s,
  },
  {
    what: "has an identity that is another one with every call",
    over: () => {
      let calls = 0
      return { identity: () => ({ call: id(String((calls += 1))) }) }
    },
    code: "identity_changes",
    verdict: "duplicate_effect",
    in: "clean",
    says: /the same parameters made \d operations/,
  },
  {
    what: "finds its object without saying why it is its own",
    over: (url) => ({
      probe: async ({ params, signal }: Look) => {
        const [one] = await list(url, `invoice=${params.invoice}`, signal)
        return one ? found({ id: one.id, state: stateOf(one) }) : absent({ complete: true })
      },
    }),
    code: "no_cause",
    verdict: "missing_cause",
    in: "answer.lost_rst",
    says: /does not say why it is this call's.*operationId: object/s,
    also: ["never_complete"],
  },
  {
    what: "compares an amount in another unit",
    over: () => ({
      expect: (p: Bill) => ({
        match: { invoice: id(p.invoice) },
        effect: { paid: true },
        invariant: { amount: p.amount / 100 },
      }),
    }),
    code: "expects_something_else",
    verdict: "stuck",
    in: "answer.lost_rst",
    says: /`expect` says that it is another.*same unit/s,
  },
  {
    what: "names an effect that the state does not show",
    over: () => ({ expect: (p: Bill) => ({ match: { invoice: id(p.invoice) }, effect: { settled: true } }) }),
    code: "effect_not_met",
    verdict: "stuck",
    in: "answer.lost_rst",
    says: /expect\.effect/,
  },
  {
    what: "has a probe that gives up where nothing is there",
    over: (url) => ({
      probe: async (on: Look) => {
        const seen = await look(url, on)
        return seen.kind === "found" ? seen : unsure("not there")
      },
    }),
    code: "probe_fails",
    verdict: "stuck",
    in: "request.first_byte",
    says: /gave no answer that counts \(not there\)/,
  },
  {
    what: "correlates by creation time, over a provider that dates by another clock",
    over: (url) => ({
      contract: { lookup: { ...LOOKUP, correlates: "created" } },
      probe: async ({ params, signal }: Look) => {
        const [one] = await list(url, `invoice=${params.invoice}`, signal)
        return one
          ? found({ id: one.id, createdAt: new Date(Date.parse(one.created) - 600_000), state: stateOf(one) })
          : absent({ complete: true })
      },
    }),
    code: "other_clock",
    verdict: "missing_cause",
    in: "answer.lost_rst",
    says: /dated 600 s before the request that made it.*`now`/s,
    also: ["never_complete"],
  },
  {
    what: "has a probe that makes up what it finds",
    over: () => ({
      probe: ({ params, operationId }: Look) =>
        found({ id: `ch_${params.invoice}`, operationId, state: { ...params, paid: true } }),
    }),
    code: "found_what_is_not_there",
    verdict: "lost_effect",
    in: "request.first_byte",
    says: /the probe took something for this call's/,
    also: ["found_a_strangers_object"],
  },
  {
    what: "has a probe that looks in the wrong place",
    over: (url) => ({
      probe: async ({ operationId, signal }: Look) => {
        const own = await list(url, `id=${operationId}`, signal)
        return own.length === 0 ? absent({ complete: true }) : unsure("several")
      },
    }),
    code: "probe_does_not_find_it",
    verdict: "duplicate_effect",
    in: "answer.lost_rst",
    says: /does not find it later either.*Search by what the call really wrote/s,
  },
  {
    what: "never ends once its connection breaks",
    over: (url) => ({ execute: (call: Call) => charge(url, call).catch(() => new Promise(() => undefined)) }),
    code: "attempt_never_ends",
    verdict: "stuck",
    in: "request.first_byte",
    says: /did not end when its time was over.*`signal`/s,
    only: ["request.first_byte"],
  },
  {
    what: "calls itself read-only",
    over: () => ({
      safety: "read-only",
      applied: undefined,
      contract: undefined,
      probe: undefined,
      expect: undefined,
    }),
    code: "read_only_with_effect",
    verdict: "wrong_class",
    in: "clean",
    says: /counts \d effects.*write-once-checkable/s,
  },
]

export function badModule({ over, entry, fake }: BadTool): ReturnType<typeof moduleOf> {
  return moduleOf(payTool(over), entry, fake)
}
