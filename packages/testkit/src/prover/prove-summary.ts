/** What a run of the prover comes to: figures, and one entry for each cause instead of one for each case. */
import type { ProveVerdict } from "./finding.ts"
import type { CaseReport, ToolReport } from "./prove-tools.ts"

export interface FoundCause {
  readonly tool: string
  readonly code: string
  readonly verdict: ProveVerdict
  readonly happened: string
  readonly do: string | null
  readonly see: string | null
  readonly cases: readonly string[]
  /** Of the first of these cases. */
  readonly says: string
  readonly schedule: readonly string[]
}

export interface ProveFigures {
  readonly cases: number
  readonly ok: number
  /** Of those, how many ended at a person, as the tool's class says. */
  readonly at_a_person: number
  /** Different causes. */
  readonly findings: number
  readonly cases_with_findings: number
  readonly limits: number
  readonly not_tried: number
}

export interface GroupFigures {
  readonly group: string
  readonly cases: number
  readonly ok: number
  readonly findings: number
  readonly limits: number
  readonly not_tried: number
}

export function isFinding({ verdict }: { readonly verdict: ProveVerdict }): boolean {
  return verdict !== "ok" && verdict !== "limit" && verdict !== "not_tried"
}

export function figuresOf(reports: readonly ToolReport[]): ProveFigures {
  const cases = reports.flatMap((one) => one.cases)
  const many = (holds: (one: CaseReport) => boolean) => cases.filter(holds).length
  return {
    cases: cases.length,
    ok: many((one) => one.verdict === "ok"),
    at_a_person: many((one) => one.verdict === "ok" && one.state === "needs_review"),
    findings: reports.flatMap((one) => causesOf(one)).filter(isFinding).length,
    cases_with_findings: many(isFinding),
    limits: many((one) => one.verdict === "limit"),
    not_tried: many((one) => one.verdict === "not_tried"),
  }
}

/** Findings first, then limits, then what was not tried; each cause once. */
export function causesOf({ tool, cases }: ToolReport): readonly FoundCause[] {
  const causes = new Map<string, { readonly first: CaseReport; readonly cases: string[] }>()
  for (const one of cases) {
    if (one.code === null) continue
    const key = one.verdict === "not_tried" ? `not_tried:${one.happened}` : `${one.verdict}:${one.code}`
    const known = causes.get(key)
    if (known) known.cases.push(one.case)
    else causes.set(key, { first: one, cases: [one.case] })
  }
  return [...causes.values()]
    .map(({ first, cases: names }) => ({
      tool,
      code: first.code ?? "",
      verdict: first.verdict,
      happened: first.happened ?? "",
      do: first.do,
      see: first.see,
      cases: names,
      says: first.says,
      schedule: first.schedule,
    }))
    .toSorted((a, b) => rankOf(a.verdict) - rankOf(b.verdict))
}

function rankOf(verdict: ProveVerdict): number {
  return verdict === "not_tried" ? 2 : verdict === "limit" ? 1 : 0
}

/** By the first word of the cases' names, in their order. */
export function groupsOf({ cases }: ToolReport): readonly GroupFigures[] {
  const groups = new Map<string, CaseReport[]>()
  for (const one of cases) {
    const group = one.case.split(".", 1)[0] ?? one.case
    groups.set(group, [...(groups.get(group) ?? []), one])
  }
  return [...groups].map(([group, all]) => ({
    group,
    cases: all.length,
    ok: all.filter((one) => one.verdict === "ok").length,
    findings: all.filter(isFinding).length,
    limits: all.filter((one) => one.verdict === "limit").length,
    not_tried: all.filter((one) => one.verdict === "not_tried").length,
  }))
}

/** `45 cases, 1 finding (in 5 cases), 2 at a limit, 0 not tried` */
export function figureLine(reports: readonly ToolReport[]): string {
  const { cases, findings, cases_with_findings, limits, not_tried } = figuresOf(reports)
  const s = (many: number, what: string): string => `${many} ${what}${many === 1 ? "" : "s"}`
  const inside = findings === 0 ? "" : ` (in ${s(cases_with_findings, "case")})`
  return `${s(cases, "case")}, ${s(findings, "finding")}${inside}, ${limits} at a limit, ${not_tried} not tried`
}
