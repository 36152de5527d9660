/** `invoke demo`: the $500 invoice that became $1,000, and how it does not. Real processes, no keys, no network. */
import { actFive, actFour, actOne, actSix, actThree, actTwo } from "./acts.ts"
import { showFacts } from "./facts.ts"
import { Narrator, type Screen } from "./narrator.ts"
import { setStage } from "./stage.ts"

/** Exit code 1 unless the provider's own ledger has the stated count in every act. */
export async function demo(screen: Screen): Promise<number> {
  const say = new Narrator(screen)
  say.line("The $500 invoice that became $1,000")
  say.say("A payment provider, a mail provider and a faulty network run as processes on this machine.")
  const stage = await setStage()
  try {
    const context = { stage, say }
    await actOne(context)
    const operation_id = await actTwo(context)
    await actThree(context)
    await actFour(context)
    await actFive(context)
    await actSix(context)
    await showFacts(stage, say, operation_id)
  } finally {
    await stage.close()
  }
  say.line("")
  say.line(say.failures === 0 ? "All six acts hold." : `${say.failures} checks FAIL.`)
  return say.failures === 0 ? 0 : 1
}
