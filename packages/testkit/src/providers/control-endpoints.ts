/**
 * The doors for tests on a running provider. No client of the real provider has them, so they are kept under names no
 * provider uses, ask for no key and leave no request line in the ledger.
 */
import type { AnswerRule } from "./answer-rules.ts"
import type { GatePlace } from "./gate.ts"
import { effectsOf } from "./ledger-line.ts"
import { jsonAnswer, type ProviderAnswer } from "./provider.ts"
import type { ProviderServer } from "./provider-server.ts"
import type { CommonSettings } from "./provider-settings.ts"

const PLACES: readonly string[] = ["open", "before_effect", "after_effect"] satisfies GatePlace[]

/** Answers a control request, or null when the path is the provider's own. */
export async function controlAnswer<Settings extends CommonSettings>(
  server: ProviderServer<Settings>,
  request: { readonly method: string; readonly url: URL; readonly body: string },
): Promise<ProviderAnswer | null> {
  const { method, url, body } = request
  if (!url.pathname.startsWith("/_control/") && !url.pathname.startsWith("/_ledger")) return null
  try {
    switch (`${method} ${url.pathname}`) {
      case "GET /_ledger":
        return jsonAnswer(200, server.lines)
      case "GET /_ledger/effects":
        return jsonAnswer(200, effectsOf(server.lines))
      case "GET /_control/settings":
        return jsonAnswer(200, server.settings)
      case "POST /_control/settings":
        return jsonAnswer(200, server.change(JSON.parse(body)))
      case "POST /_control/answers":
        server.rules.order(JSON.parse(body) as AnswerRule[])
        return jsonAnswer(200, {})
      case "POST /_control/gate": {
        const { place } = JSON.parse(body) as { place: GatePlace }
        if (!PLACES.includes(place)) throw new Error(`unknown gate place "${place}"; known: ${PLACES.join(", ")}`)
        server.gate.set(place)
        return jsonAnswer(200, {})
      }
      case "GET /_control/at_gate":
        await server.gate.filled(Number(url.searchParams.get("count") ?? "1"))
        return jsonAnswer(200, {})
      default:
        return jsonAnswer(404, { error: `no control endpoint ${method} ${url.pathname}` })
    }
  } catch (error) {
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) })
  }
}
