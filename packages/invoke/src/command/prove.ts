/**
 * `invoke prove`: a user's own tool, probe and `expect` against a fake of its provider, with every fault at every point.
 *
 * PV1. Nothing but the fake is reached, and no journal is opened: a proof costs nothing and changes nothing.
 * PV2. Exit 1 means a finding. What was not tried is said, and is no finding.
 */
import type { CaseReport, FoundCause, ToolReport } from "@invokejs/testkit"
import { COLUMNS, wrap } from "../demo/narrator.ts"
import { counted } from "./counted.ts"
import { defineCommand, filled } from "./define-command.ts"
import { loadModule } from "./load-tools.ts"
import type { Page } from "./page.ts"

interface ProveFlags {
  readonly tool?: readonly string[]
  readonly only?: readonly string[]
}

export const proveCommand = defineCommand<ProveFlags, [file: string]>({
  brief: "Prove tools against a fake of their provider; exit 1 on a finding",
  details:
    "The module exports `tools`, made for a URL, and `prove`, a fake and parameters for each tool. Every case makes one call " +
    "with one fault, then the same call again, in compressed time, and counts effects at the fake. No journal is opened.",
  flags: {
    tool: {
      kind: "parsed",
      parse: filled,
      brief: "Only this tool",
      placeholder: "NAME",
      variadic: true,
      optional: true,
    },
    only: {
      kind: "parsed",
      parse: filled,
      brief: "Only cases whose names begin so; the call without a fault comes first in any case",
      placeholder: "CASE",
      variadic: true,
      optional: true,
    },
  },
  positional: [{ brief: "Module that exports `tools` and `prove`", parse: filled, placeholder: "FILE.js" }],
  async run(run, flags, file) {
    const { exported } = await loadModule(run, file, "Check the path.")
    // Its proxies and fakes are loaded for this command alone.
    const { causesOf, figureLine, figuresOf, groupsOf, proveTools } = await import("@invokejs/testkit")
    const reports = await proveTools(exported, {
      signal: run.world.interrupted,
      ...(flags.tool === undefined ? {} : { tools: flags.tool }),
      ...(flags.only === undefined ? {} : { only: flags.only }),
    })
    const figures = figuresOf(reports)
    const complete = !run.world.interrupted.aborted
    const ok = figures.findings === 0 && complete
    return {
      exit: ok ? 0 : 1,
      json: {
        ok,
        complete,
        figures,
        tools: reports.map((one) => ({
          tool: one.tool,
          safety: one.safety,
          causes: causesOf(one).map(({ schedule: _schedule, says: _says, tool: _tool, ...cause }) => cause),
          cases: one.cases,
        })),
      },
      text: (page) => {
        for (const report of reports) showTool(page, report, groupsOf(report), causesOf(report))
        page.line()
        if (!complete) page.line("Interrupted: not every case has been run.")
        page.line(`${figureLine(reports)}.`)
      },
    }
  },
})

type Groups = ReturnType<typeof import("@invokejs/testkit").groupsOf>

function showTool(
  page: Page,
  { tool, safety, cases }: ToolReport,
  groups: Groups,
  causes: readonly FoundCause[],
): void {
  page.heading(`${tool} (${safety})`)
  page.line()
  page.table(
    ["point", "cases", "ok", "findings", "limits", "not tried"],
    groups.map((one) => [one.group, ...[one.cases, one.ok, one.findings, one.limits, one.not_tried].map(String)]),
  )
  const person = cases.filter(endsAtPerson).length
  if (person > 0) page.say(`${counted(person, "case")} ended at a person, as its class says.`)
  for (const cause of causes) showCause(page, cause)
}

/** A time, which stands out, and what happened then. */
function showLine(page: Page, line: string): void {
  const [time, text] = [line.slice(0, TIME), line.slice(TIME)]
  wrap(text, COLUMNS - TIME - 2).forEach((part, index) => {
    page.line(`  ${index === 0 ? time : " ".repeat(TIME)}${part}`)
  })
}

const TIME = 11

function endsAtPerson({ verdict, state }: CaseReport): boolean {
  return verdict === "ok" && state === "needs_review"
}

const HEADINGS: { readonly [verdict: string]: string } = {
  duplicate_effect: "Duplicate effect",
  lost_effect: "Lost effect",
  stuck: "Stuck",
  missing_cause: "Missing cause",
  never_complete: "The probe never answers complete",
  wrong_class: "Wrong class or contract",
  limit: "Limit",
  not_tried: "Not tried",
}

function showCause(page: Page, cause: FoundCause): void {
  const { verdict, code, cases, happened, do: fix, see, schedule, says } = cause
  page.heading(`${HEADINGS[verdict] ?? verdict}${verdict === "not_tried" ? "" : `: ${code}`}`)
  page.fact("what happened", happened, 2)
  page.fact("do", fix, 2)
  page.fact("read", see, 2)
  page.fact(counted(cases.length, "case"), cases.join(", "), 2)
  if (verdict === "not_tried" || verdict === "limit" || schedule.length === 0) return
  page.line()
  page.say(`${cases[0] ?? ""}: ${says}`, 2)
  for (const line of schedule) showLine(page, line)
}
