/** Cases of looks: what the provider may answer them, and what others have made. */
import type { Fault } from "../fault-proxy/fault.ts"
import type { CasePlan } from "./case-plan.ts"
import type { Facts } from "./plan-cases.ts"
import { seconds } from "./say-time.ts"

const RST: Fault = { kind: "drop_answer", then: "rst" }

export function lookCases(facts: Facts): readonly CasePlan[] {
  const { contract, shows_ms, two_fakes, checkable } = facts
  const unapplied: Fault = { kind: "refuse", by: "rst" }
  const behind: CasePlan = {
    id: "look.behind",
    says: `the answer is lost, and lookups show the effect only after ${seconds(shows_ms - 500)}`,
    wire: RST,
    look: { kind: "behind", ms: shows_ms - 500 },
    ...(two_fakes ? {} : { not_tried: "`provider` gives one fake again and again, so nothing shows the world before" }),
  }
  return [
    {
      id: "look.fails_applied",
      says: "the answer is lost, and the first three requests of the looks are answered 500",
      wire: RST,
      look: { kind: "fails", times: 3 },
    },
    {
      id: "look.fails_unapplied",
      says: "the request is lost, and the first three requests of the looks are answered 500",
      wire: unapplied,
      look: { kind: "fails", times: 3 },
    },
    {
      id: "look.silent",
      says: "the answer is lost, and the first look is never answered",
      wire: RST,
      look: { kind: "silent" },
    },
    {
      id: "look.broken_body",
      says: "the answer is lost, and the first look gets a body that no parser reads",
      wire: RST,
      look: { kind: "broken", fault: { kind: "garble_answer", part: "body" } },
    },
    {
      id: "look.broken_off",
      says: "the request is lost, and the first look's answer breaks off",
      wire: unapplied,
      look: { kind: "broken", fault: { kind: "truncate_answer", keep_bytes: 1, then: "fin" } },
    },
    ...(shows_ms > 1_000 ? [behind] : []),
    ...(checkable && contract.key !== undefined ? [outage(facts)] : []),
  ]
}

/** Nothing is reachable until the provider has forgotten the key. */
function outage({ contract }: Facts): CasePlan {
  const ms = Math.min((contract.key?.retention_ms ?? 0) + 3_600_000, contract.deadline_ms - 3_600_000)
  return {
    id: "key.outage",
    says: `the answer is lost, and nothing is reachable for ${seconds(ms)}`,
    wire: RST,
    outage_ms: ms,
  }
}

export function strangerCases({ contract, follows_clock, has_other }: Facts): readonly CasePlan[] {
  const lost: Fault = { kind: "refuse", by: "rst" }
  const by = contract.lookup?.correlates
  const needs_other = has_other ? {} : { not_tried: "`prove` gives no `other` parameters" }
  const dated = by !== "created" || follows_clock ? {} : { not_tried: "the fake has no `clock`, so nothing is older" }
  return [
    {
      id: "stranger.equal_before",
      says: "an equal object of somebody else is there, a minute old, and the request is lost",
      wire: lost,
      plant: "equal_before",
      ...dated,
    },
    ...(by === "operation"
      ? [
          {
            id: "stranger.equal_after",
            says: "the request is lost, and somebody else makes an equal object right after it",
            wire: lost,
            plant: "equal_after" as const,
          },
        ]
      : []),
    ...(by === "state"
      ? []
      : [
          {
            id: "stranger.other_before",
            says: "an object with other parameters is there, and the request is lost",
            wire: lost,
            plant: "other_before" as const,
            ...needs_other,
          },
          {
            id: "stranger.crowd",
            says: "the answer is lost, and others make more objects than one page of a list holds",
            wire: RST,
            plant: "crowd" as const,
            ...(by === "operation" ? {} : needs_other),
          },
        ]),
  ]
}
