/**
 * What a key contract says, asked of the provider itself: the same request again under its key, at once, late, and with another
 * body.
 *
 * KC1. The tool's own function sends, so that a key that it does not send is found as well.
 */
import type { CasePlan } from "./case-plan.ts"
import { sentKey } from "./sent-key.ts"
import type { Supplied } from "./fake-supply.ts"
import type { Finding } from "./finding.ts"
import type { Facts } from "./plan-cases.ts"
import { seconds } from "./say-time.ts"
import { requestsOf } from "./schedule.ts"
import type { Subject } from "./prove-module.ts"
import { Stage } from "./stage.ts"
import { runStranger, strangersId, strangersKey } from "./strangers.ts"

export interface KeyCase {
  readonly plan: CasePlan
  readonly judge: (supplied: Supplied) => Promise<KeyJudgement>
}

export interface KeyJudgement {
  readonly finding: Finding | null
  readonly schedule: readonly string[]
}

interface KeyRun {
  /** Between the first request and the second. */
  readonly wait_ms: number
  readonly at_once: boolean
  readonly other_body: boolean
}

export function keyCases(subject: Subject, facts: Facts): readonly KeyCase[] {
  const { key } = facts.contract
  if (key === undefined) return []
  const late = Math.floor((key.retention_ms ?? 0) * 0.9)
  const one = (id: string, says: string, run: Partial<KeyRun>, not_tried?: string): KeyCase => {
    const plan = { id: `key.${id}`, says, ...(not_tried === undefined ? {} : { not_tried }) }
    const how = { wait_ms: 1_000, at_once: false, other_body: false, ...run }
    return { plan, judge: (supplied) => twice({ subject, facts, plan, how, supplied }) }
  }
  return [
    one("replayed", "the same request goes out again under its key", {}),
    ...(key.in_flight === "races"
      ? []
      : [one("replayed_at_once", "the same request goes out twice at the same moment", { at_once: true })]),
    ...(late > 0
      ? [
          one(
            "replayed_late",
            `the same request goes out again under its key after ${seconds(late)}`,
            { wait_ms: late },
            facts.follows_clock ? undefined : "the fake has no `clock`, so no key grows old",
          ),
        ]
      : []),
    ...(key.on_mismatch === "refuses"
      ? [
          one(
            "other_body",
            "another body goes out under the key",
            { other_body: true },
            facts.has_other ? undefined : "`prove` gives no `other` parameters",
          ),
        ]
      : []),
  ]
}

async function twice(parts: {
  readonly subject: Subject
  readonly facts: Facts
  readonly plan: CasePlan
  readonly how: KeyRun
  readonly supplied: Supplied
}): Promise<KeyJudgement> {
  const { subject, facts, plan, how, supplied } = parts
  const { contract, effect } = facts
  const stage = await Stage.open({ ...supplied, subject, plan, effect, name: `prove:${subject.name}:${plan.id}` })
  try {
    const base = await stage.effects()
    const tool = await subject.toolAt(stage.strangerUrl)
    const send = (attempt: number) =>
      runStranger(
        { tool, clock: supplied.clock, contract },
        {
          params: (how.other_body && attempt === 2 ? subject.entry.other?.(0) : undefined) ?? subject.entry.params,
          operation_id: strangersId(plan.id),
          provider_key: strangersKey(contract, `${subject.name}:${plan.id}`),
          attempt,
        },
      )
    const under_way = [send(1)]
    if (!how.at_once) {
      await stage.drive(after(under_way), 600_000)
      await stage.pass(how.wait_ms)
    }
    under_way.push(send(2))
    await stage.drive(after(under_way), 600_000)
    const finding = judge(stage, facts, (await stage.effects()) - base, how)
    return { finding, schedule: requestsOf(stage.log) }
  } finally {
    await stage.close()
  }
}

function after(work: readonly Promise<unknown>[]): () => boolean {
  let over = false
  void Promise.all(work).then(() => (over = true))
  return () => over
}

function judge(stage: Stage, { contract, effect }: Facts, effects: number, how: KeyRun): Finding | null {
  const { key } = contract
  if (effects <= 1 || key === undefined) return null
  const sent = stage.log
    .filter(({ request }) => request.method === effect.method)
    .map(({ request }) => sentKey(key.sent_as, request))
  const keys = sent.filter((one) => one !== null)
  if (keys.length >= 2 && (keys[0] !== keys[1] || keys[0] === undefined)) {
    return {
      verdict: "wrong_class",
      code: "key_not_the_providers",
      happened: `two attempts of one key generation carried ${keys[0] === undefined ? "no key" : "different keys"} at ${key.sent_as}, and the provider did both`,
      fix: "Send `providerKey` of the context as it is: it stays the same for every attempt that may be the same request.",
    }
  }
  const claim = how.other_body
    ? '`onMismatch: "refuses"`'
    : how.at_once
      ? `\`inFlight: "${key.in_flight}"\``
      : how.wait_ms > 1_000
        ? `\`retention\` of ${seconds(key.retention_ms ?? 0)}`
        : `\`replay: "${key.replay}"\``
  return {
    verdict: "wrong_class",
    code: "key_executes_again",
    happened: `the provider did both requests under one key, although the contract says ${claim}`,
    fix: "Declare what the provider keeps, or remove `contract.key`: a key that does not hold makes every second attempt a second effect.",
  }
}
