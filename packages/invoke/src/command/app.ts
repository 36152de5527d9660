/**
 * Every command of the program, in one tree. Help, the reference page and the tests are drawn from it.
 *
 * AP1. The verbs under `ops` are those of the one exported verb table that are built; a test holds the two together.
 */
import {
  buildApplication,
  buildRouteMap,
  type Application,
  type ApplicationText,
  type Command,
  type RouteMap,
} from "@stricli/core"
import { auditVerifyCommand } from "./audit-verify.ts"
import { backupCommand } from "./backup.ts"
import { callCommand } from "./call.ts"
import type { Context } from "./define-command.ts"
import { demoCommand } from "./demo.ts"
import { doctorCommand } from "./doctor.ts"
import { helpCommand } from "./help.ts"
import { incidentsCloseCommand, incidentsLsCommand } from "./incidents.ts"
import { initCommand } from "./init.ts"
import { opsLsCommand } from "./ops-ls.ts"
import { opsShowCommand } from "./ops-show.ts"
import { opsWatchCommand } from "./ops-watch.ts"
import { proveCommand } from "./prove.ts"
import { purgeCommand } from "./purge.ts"
import { quarantineLiftCommand, quarantineShowCommand } from "./quarantine.ts"
import { opsAmendCommand, opsCancelCommand, opsResolveCommand } from "./verbs-on-record.ts"
import {
  opsAllowCommand,
  opsReconcileCommand,
  opsRepeatCommand,
  opsRetryCommand,
  opsSupersedeCommand,
} from "./verbs-that-act.ts"
import { workersGoneCommand, workersLsCommand } from "./workers.ts"

/** What a group runs when nothing follows it. */
export const GROUP_DEFAULTS: { readonly [group: string]: string } = {
  ops: "ls",
  workers: "ls",
  incidents: "ls",
  quarantine: "show",
}

export function commandTree(): RouteMap<Context> {
  const tree: RouteMap<Context> = buildRouteMap<string, Context>({
    docs: {
      brief: "Makes it safe to let agents change the world",
    },
    routes: {
      demo: demoCommand,
      init: initCommand,
      call: callCommand,
      prove: proveCommand,
      ops: group("Operations: list, show, follow, and a person's verbs", {
        ls: opsLsCommand,
        show: opsShowCommand,
        watch: opsWatchCommand,
        allow: opsAllowCommand,
        cancel: opsCancelCommand,
        resolve: opsResolveCommand,
        retry: opsRetryCommand,
        supersede: opsSupersedeCommand,
        repeat: opsRepeatCommand,
        reconcile: opsReconcileCommand,
        amend: opsAmendCommand,
      }),
      workers: group("Processes that carry operations on", { ls: workersLsCommand, gone: workersGoneCommand }),
      incidents: group("Two truths side by side, for a person", {
        ls: incidentsLsCommand,
        close: incidentsCloseCommand,
      }),
      quarantine: group("Whether the journal may dispatch", {
        show: quarantineShowCommand,
        lift: quarantineLiftCommand,
      }),
      audit: group("The chain of events", { verify: auditVerifyCommand }),
      purge: purgeCommand,
      backup: backupCommand,
      doctor: doctorCommand,
      help: helpCommand(() => tree),
    },
  })
  return tree
}

function group(brief: string, routes: { readonly [name: string]: Command<Context> }): RouteMap<Context> {
  return buildRouteMap<string, Context>({ docs: { brief }, routes })
}

/** What counts as a slip of the keyboard: one or two letters. */
const NEAR = { threshold: 2, weights: { insertion: 1, deletion: 1, substitution: 1, transposition: 1 } }

export function application(tree: RouteMap<Context>, version: string, text: ApplicationText): Application<Context> {
  return buildApplication(tree, {
    name: "invoke",
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true, distanceOptions: NEAR },
    documentation: { disableAnsiColor: true },
    localization: { text },
  })
}
