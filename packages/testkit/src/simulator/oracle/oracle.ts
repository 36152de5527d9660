/**
 * The judge of a run: compares what callers were told with what was done in the world. Shares no code with the engine.
 *
 * Owns: the rules, each in the file of what it looks at. Must not: ask the engine anything, or know why it did something.
 *
 * OR1. A rule says `violation` where a promise is broken, and `info` where it could not be kept by anybody (protocol, H1): the
 *      journal forgot, or somebody between us and the provider sent our request once more.
 */
import { answerFindings } from "./answer-rules.ts"
import { effectFindings } from "./effect-rules.ts"
import { endingFindings } from "./ending-rules.ts"
import { requestFindings } from "./request-rules.ts"
import { resourceFindings } from "./resource-rules.ts"
import type { RunHistory } from "../history.ts"

/** Each rule with the promise that it holds the engine to. */
export const ORACLE_RULES = {
  one_effect: "S1: an action has one effect, and one more for each repeat that somebody asked for",
  unevidenced:
    "S1: no request leaves while an earlier one has taken effect or still may, unless the provider's key makes them one",
  intent_first: "S2: no request leaves before its dispatch record is durable",
  window: "S1, R6: no attempt begins after the time that its record gives it",
  same_bytes: "RP-9: one provider key carries one request",
  quarantine: "R24: a journal in quarantine dispatches nothing",
  true_yes: "S3: who was told that it is done was told so after it was done",
  true_no: "S3: who was told that nothing is in place was told the truth about every attempt until then",
  one_word: "S4: what was told as done is not told otherwise later, and names one object",
  nothing_ran: "IN1: an error means that nothing ran",
  unforeseen: "every error that a caller or the log gets is one that was foreseen",
  ending: "S3: what the journal says at the end is so",
  one_object: "RC-12: one object confirms one operation, and it is no stranger's",
  settles: "L1: the faults over, what can be looked up is settled within 48 hours, and with a person everything is",
  no_overwrite: "R15: a state is not set again over a newer one that was seen or admitted",
  stale_replay: "item 3: a replayed yes about a state is the last write that was admitted",
} as const
export type OracleRule = keyof typeof ORACLE_RULES

export interface Finding {
  readonly rule: OracleRule
  readonly weight: "violation" | "info"
  readonly text: string
}

export interface Judged {
  readonly violations: readonly Finding[]
  readonly infos: readonly Finding[]
}

export function judgeRun(history: RunHistory): Judged {
  const findings = [
    ...effectFindings(history),
    ...requestFindings(history),
    ...answerFindings(history),
    ...endingFindings(history),
    ...resourceFindings(history),
  ]
  return {
    violations: findings.filter(({ weight }) => weight === "violation"),
    infos: findings.filter(({ weight }) => weight === "info"),
  }
}
