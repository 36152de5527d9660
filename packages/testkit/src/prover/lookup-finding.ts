/** Why looks said that nothing was there: the lookup was behind, or cannot see the object at all. */
import { causeProblem } from "./cause-problem.ts"
import type { Evidence, Finding } from "./finding.ts"
import { seconds } from "./say-time.ts"

export function lookupFinding(evidence: Evidence, verdict: Finding["verdict"], when: string): Finding {
  const { seen, facts } = evidence
  const { lookup } = facts.contract
  const problem = causeProblem(evidence, verdict, when)
  if (problem !== null) return problem
  const { plan, shown } = seen
  // What the case itself held back was shown no earlier than that.
  const behind_ms = plan.look?.kind === "behind" ? facts.shows_ms : 0
  if (shown !== null && shown.first_seen_ms !== null) {
    const took = seconds(Math.max(shown.first_seen_ms, behind_ms))
    const declared = lookup?.consistency === "strong" ? "0 s (`strong`)" : seconds(lookup?.visibility_ms ?? 0)
    return {
      verdict,
      code: "lookup_is_behind",
      happened: `looks answered \`absent\` while the effect was there; the lookup shows it only after about ${took}: ${when}`,
      fix: `The contract says that lookups show it within ${declared}. Look where it shows at once (by id, a list that is no index), declare \`visibility: "${took}"\` at least, or \`consistency: "search"\`, under which silence proves nothing.`,
    }
  }
  return {
    verdict,
    code: "probe_does_not_find_it",
    happened: `the probe answers \`absent({ complete: true })\` although the effect is there, and does not find it later either: ${when}`,
    fix: "Search by what the call really wrote, read every page, and answer `complete: true` only when everything that could be this object was looked at.",
  }
}
