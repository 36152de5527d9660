/**
 * The prover: a tool, its probe and its `expect`, against a fake of its provider, with every fault at every point.
 *
 * Owns: the order of the cases, and what is reported of them.
 * Must not: believe anything about effects but the fake's own count.
 *
 * PR1. A tool whose call fails without any fault is proved nothing about: that is the one finding.
 * PR2. A case that could not be tried is listed with its reason; it is never counted as passed.
 */
import type { CasePlan } from "./case-plan.ts"
import { judgeCase } from "./judge-case.ts"
import { FakeSupply } from "./fake-supply.ts"
import type { Finding, ProveVerdict } from "./finding.ts"
import { keyCases, type KeyCase } from "./key-cases.ts"
import { planCases, type Facts } from "./plan-cases.ts"
import { readSubjects, type Subject } from "./prove-module.ts"
import { runCase, type Observation } from "./run-case.ts"
import { scheduleOf } from "./schedule.ts"
import type { EffectRequest } from "./case-faults.ts"
import { factsOf } from "./tool-facts.ts"
import { cleanFinding, EMPTY_CONTRACT } from "./clean-call.ts"

export interface CaseReport {
  readonly case: string
  readonly says: string
  readonly verdict: ProveVerdict
  /** The state in which the operation came to rest; null where there was none. */
  readonly state: string | null
  /** Null: as it should be. */
  readonly code: string | null
  readonly happened: string | null
  readonly do: string | null
  readonly see: string | null
  readonly schedule: readonly string[]
}

export interface ToolReport {
  readonly tool: string
  readonly safety: string
  readonly cases: readonly CaseReport[]
}

export interface ProveOptions {
  /** Only these tools. */
  readonly tools?: readonly string[]
  /** Only cases whose names begin so. */
  readonly only?: readonly string[]
  /** Told of each case when it is over. */
  readonly onCase?: (tool: string, report: CaseReport) => void
  readonly signal?: AbortSignal
}

const GUIDE = "docs/guides/prove.md"

export async function proveTools(
  exported: { readonly [name: string]: unknown },
  options: ProveOptions = {},
): Promise<readonly ToolReport[]> {
  const reports: ToolReport[] = []
  for (const subject of await readSubjects(exported, options.tools)) {
    const supply = new FakeSupply(subject)
    try {
      reports.push(await new ToolRun(subject, supply, options).run())
    } finally {
      await supply.close()
    }
  }
  return reports
}

const CLEAN: CasePlan = { id: "clean", says: "the call, without any fault" }

class ToolRun {
  readonly #subject: Subject
  readonly #supply: FakeSupply
  readonly #options: ProveOptions
  readonly #cases: CaseReport[] = []

  constructor(subject: Subject, supply: FakeSupply, options: ProveOptions) {
    this.#subject = subject
    this.#supply = supply
    this.#options = options
  }

  async run(): Promise<ToolReport> {
    const { name, safety } = this.#subject
    const facts = await this.#clean()
    if (facts !== null) {
      for (const plan of planCases(facts)) {
        if (this.#wanted(plan.id)) await this.#case(plan, facts)
      }
      for (const { plan, judge } of keyCases(this.#subject, facts)) {
        if (this.#wanted(plan.id)) await this.#key(plan, judge)
      }
    }
    return { tool: name, safety, cases: this.#cases }
  }

  #wanted(id: string): boolean {
    const { only = [], signal } = this.#options
    return signal?.aborted !== true && (only.length === 0 || only.some((one) => id.startsWith(one)))
  }

  async #clean(): Promise<Facts | null> {
    const supplied = await this.#supply.take()
    const seen = await this.#run(CLEAN, supplied, null, EMPTY_CONTRACT)
    const facts = factsOf(this.#subject, seen, supplied)
    const finding = cleanFinding(this.#subject, seen, facts)
    this.#report(CLEAN, finding, scheduleOf(seen), seen)
    return finding === null ? facts : null
  }

  async #case(plan: CasePlan, facts: Facts): Promise<void> {
    if (plan.not_tried !== undefined) return this.#report(plan, null, [])
    const seen = await this.#run(plan, await this.#supply.take(), facts.effect, facts.contract)
    this.#report(plan, judgeCase(seen, facts), scheduleOf(seen), seen)
  }

  async #key(plan: CasePlan, judge: KeyCase["judge"]): Promise<void> {
    if (plan.not_tried !== undefined) return this.#report(plan, null, [])
    const supplied = await this.#supply.take()
    const { finding, schedule } = await judge(supplied)
    this.#supply.ended(supplied)
    this.#report(plan, finding, schedule)
  }

  async #run(
    plan: CasePlan,
    supplied: Awaited<ReturnType<FakeSupply["take"]>>,
    effect: EffectRequest | null,
    contract: Facts["contract"],
  ): Promise<Observation> {
    const name = `prove:${this.#subject.name}:${plan.id}`
    const seen = await runCase({ ...supplied, subject: this.#subject, plan, effect, name }, contract)
    this.#supply.ended(supplied)
    return seen
  }

  #report(plan: CasePlan, finding: Finding | null, schedule: readonly string[], seen?: Observation): void {
    const report: CaseReport = {
      case: plan.id,
      says: plan.says,
      verdict: plan.not_tried !== undefined ? "not_tried" : (finding?.verdict ?? "ok"),
      state: seen?.operations[0]?.state ?? null,
      code: plan.not_tried !== undefined ? "not_tried" : (finding?.code ?? null),
      happened: plan.not_tried ?? finding?.happened ?? null,
      do: finding === null || finding.fix === "" ? null : finding.fix,
      see: finding === null || finding.fix === "" ? null : `${GUIDE}#${finding.code}`,
      schedule,
    }
    this.#cases.push(report)
    this.#options.onCase?.(this.#subject.name, report)
  }
}
