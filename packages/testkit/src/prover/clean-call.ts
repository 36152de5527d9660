/** The call without a fault: what has to hold before anything else can be asked. */
import type { Contract } from "@invokejs/protocol"
import { explainDuplicate } from "./explain-duplicate.ts"
import { explainStuck } from "./explain-stuck.ts"
import { evidenceOf, type Finding } from "./finding.ts"
import type { Facts } from "./plan-cases.ts"
import type { Subject } from "./prove-module.ts"
import type { Observation } from "./run-case.ts"

/** Before the first call nothing is known of the contract; nothing reads more of it than whether a key is declared. */
export const EMPTY_CONTRACT: Contract = {
  applied: "outcome",
  has_resource: false,
  exclusive: false,
  shared: false,
  many: false,
  timeout_ms: 30_000,
  attempts: 1,
  deadline_ms: 86_400_000,
  settle_by_ms: 86_400_000,
}

/** Null: one effect, and the caller was told so. */
export function cleanFinding(subject: Subject, seen: Observation, facts: Facts | null): Finding | null {
  const { effects, tellings } = seen
  const [first] = tellings
  if (first?.error) {
    return {
      verdict: "wrong_class",
      code: "call_refused",
      happened: `the call was refused before anything ran: ${first.error.message}`,
      fix: `Correct prove.${subject.name}.params, or the tool's schema and identity.`,
    }
  }
  if (subject.safety === "read-only") return readOnlyFinding(effects)
  const evidence = facts === null ? null : evidenceOf(seen, facts)
  if (effects > 1 && evidence !== null) return explainDuplicate(evidence)
  const last = tellings.at(-1)?.result
  if (effects === 1 && last?.ok === true && evidence !== null) return null
  if (last?.ok !== true && evidence !== null && effects === 1) return explainStuck(evidence)
  const told = first?.result ? `the caller was told \`${first.result.status}\`` : "nobody was told anything"
  const why = first?.result?.reason === null || !first?.result ? "" : ` (${first.result.reason.text})`
  return {
    verdict: "wrong_class",
    code: "clean_call_fails",
    happened: `without any fault the fake counts ${effects} effects, and ${told}${why}`,
    fix: "Let the fake answer this call as the provider does, and count in `effects()` what became true.",
  }
}

function readOnlyFinding(effects: number): Finding | null {
  if (effects === 0) return null
  return {
    verdict: "wrong_class",
    code: "read_only_with_effect",
    happened: `the tool says \`safety: "read-only"\`, and the provider counts ${effects} effects`,
    fix: 'Give it the class of what it changes: `safety: "write-once-checkable"` with a probe, or `"irreversible"`.',
  }
}
