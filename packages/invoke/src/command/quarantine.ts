/** `invoke quarantine show | lift`: a journal that may have gone back in time dispatches nothing until a person has spoken. */
import type { Quarantine } from "@invokejs/engine"
import { InvokeError } from "@invokejs/protocol"
import { defineCommand, filled, JOURNAL_FLAG, type JournalFlag } from "./define-command.ts"
import { ACTOR_FLAG, actorOf, type ActorFlag } from "./flags.ts"
import { isoTime, sayMoment } from "./say-time.ts"
import { withInvoke, withJournal } from "./session.ts"
import { shownCommand } from "./shown-command.ts"

export const quarantineShowCommand = defineCommand<JournalFlag>({
  brief: "Show whether the journal is in quarantine, and why",
  flags: { ...JOURNAL_FLAG },
  run: (run, flags) =>
    withJournal(run, flags, async (journal) => {
      const quarantine = await journal.quarantine()
      const { incarnation } = journal.identity
      const now = journal.now()
      return {
        exit: 0,
        json: { quarantine: factOf(quarantine), incarnation },
        text: (page) => {
          page.fact("quarantine", quarantine === null ? "no" : "yes: nothing is dispatched")
          page.fact("incarnation", incarnation)
          if (quarantine === null) return
          page.fact("since", sayMoment(quarantine.since, now))
          page.fact("reason", `${quarantine.reason}: ${quarantine.detail}`)
          page.line()
          page.say(
            "Operations that this file does not know of may have been sent. Find out what was lost since it was current; then say so:",
          )
          page.line(`  ${shownCommand(["quarantine", "lift", "--statement", "TEXT"], flags)}`)
        },
      }
    }),
})

interface LiftFlags extends JournalFlag, ActorFlag {
  readonly statement: string
}

export const quarantineLiftCommand = defineCommand<LiftFlags>({
  brief: "Let the journal dispatch again, by a statement of what was lost",
  details:
    "Operations that were open then stay marked as restored: each is looked up, as if an attempt could have been sent until now.",
  flags: {
    ...JOURNAL_FLAG,
    ...ACTOR_FLAG,
    statement: { kind: "parsed", parse: filled, brief: "What was lost, and how you know", placeholder: "TEXT" },
  },
  run: (run, flags) =>
    withInvoke(run, flags, {}, async ({ journal, invoke }) => {
      const before = await journal.quarantine()
      if (before === null) {
        throw new InvokeError("illegal_transition", {
          happened: "the journal is not in quarantine",
          fix: "There is nothing to lift.",
          detail: { location: journal.identity.location },
        })
      }
      const by = actorOf(run.world, flags)
      await invoke.operator({ name: by }).liftQuarantine(flags.statement)
      return {
        exit: 0,
        json: { quarantine: factOf(await journal.quarantine()), lifted: factOf(before), by },
        text: (page) => page.say(`The quarantine is lifted by ${by}. The journal dispatches again.`),
      }
    }),
})

export function factOf(quarantine: Quarantine | null) {
  return quarantine && { ...quarantine, since: isoTime(quarantine.since) }
}
