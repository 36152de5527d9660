/**
 * A mail provider of the old kind: it takes no key, and no client can ask it what it sent. A repeated request is a
 * second mail, and a lost answer is lost for good.
 */
import { askForBearer, jsonBody, PlainError, plainRefusal } from "../plain-error.ts"
import { jsonAnswer, type Plan, type Provider, type ProviderAnswer } from "../provider.ts"
import type { ProviderRequest, ProviderWorld } from "../provider.ts"
import type { ProviderKind } from "../provider-server.ts"
import { COMMON_DEFAULTS, type CommonSettings } from "../provider-settings.ts"

export interface MailSettings extends CommonSettings {
  /** 202: taken into a queue. 200: handed on. The mail is an effect either way. */
  readonly accept_status: 200 | 202
}

export const MAIL: ProviderKind<MailSettings> = {
  name: "mail",
  defaults: { ...COMMON_DEFAULTS, accept_status: 202 },
  choices: { accept_status: [200, 202] },
  requestIdPrefix: "mreq_",
  open: (world) => new MailProvider(world),
}

class MailProvider implements Provider {
  readonly #world: ProviderWorld<MailSettings>

  constructor(world: ProviderWorld<MailSettings>) {
    this.#world = world
  }

  plan(request: ProviderRequest): Plan {
    try {
      askForBearer(request, this.#world.settings().api_key)
      if (request.path !== "/send") throw new PlainError(404, "not_found", `There is no ${request.path}`)
      if (request.method !== "POST") throw new PlainError(405, "method_not_allowed", "Mails can only be sent")
      return this.#send(request)
    } catch (error) {
      if (error instanceof PlainError) return { kind: "answer", answer: error.answer() }
      throw error
    }
  }

  due(): [] {
    return []
  }

  ordered(status: number): ProviderAnswer {
    return plainRefusal(status)
  }

  #send(request: ProviderRequest): Plan {
    const given = jsonBody(request)
    const mail = { to: text(given, "to"), subject: text(given, "subject"), body: text(given, "body") }
    if (!/^[^@\s]+@[^@\s]+$/.test(mail.to)) throw new PlainError(422, "invalid_recipient", `Not an address: ${mail.to}`)
    return {
      kind: "execute",
      key: null,
      run: () => {
        const { accept_status } = this.#world.settings()
        const id = request.ids.next("mail_", 20)
        const sent = { id, ...mail, sent_at: new Date(this.#world.clock.now_ms()).toISOString() }
        return {
          effects: [{ kind: "mail.sent", object_id: id, object: sent }],
          changes: [{ collection: "mails", id, object: sent }],
          answer: jsonAnswer(accept_status, accept_status === 202 ? { id, status: "queued" } : { id }),
        }
      },
    }
  }
}

function text(given: ReadonlyMap<string, unknown>, name: string): string {
  const value = given.get(name)
  if (typeof value !== "string" || value === "") throw new PlainError(422, "missing_field", `"${name}" is required`)
  return value
}
