/** What a test can tell a running provider to be. Every setting has a default; an unknown name is refused. */

export interface CommonSettings {
  /** The bearer token asked for; empty asks for none. */
  readonly api_key: string
  /** Added to the machine's clock. */
  readonly clock_offset_ms: number
  /** Time between taking a request up and its effect. */
  readonly latency_before_ms: number
  /** Time between the effect and the answer. */
  readonly latency_after_ms: number
  /** How old an object must be before lists show it. Reading by id never lags. */
  readonly list_lag_ms: number
}

export const COMMON_DEFAULTS: CommonSettings = {
  api_key: "sk_test_invoke",
  clock_offset_ms: 0,
  latency_before_ms: 0,
  latency_after_ms: 0,
  list_lag_ms: 0,
}

/** For settings with few legal values: which. */
export type SettingChoices = Readonly<Record<string, readonly unknown[]>>

/** Checks a partial setting against the defaults: same names, same types. Throws with the name that is wrong. */
export function checkSettings(defaults: object, choices: SettingChoices, given: unknown): Record<string, unknown> {
  if (typeof given !== "object" || given === null) throw new Error("settings are a JSON object")
  const known = new Map<string, unknown>(Object.entries(defaults))
  for (const [name, value] of Object.entries(given)) {
    if (!known.has(name)) throw new Error(`unknown setting "${name}"; known: ${[...known.keys()].join(", ")}`)
    const wanted = typeof known.get(name)
    if (typeof value !== wanted) throw new Error(`setting "${name}" is a ${wanted}, got ${typeof value}`)
    const legal = choices[name]
    if (legal?.includes(value) === false) throw new Error(`setting "${name}" is one of ${legal.join(", ")}`)
  }
  return { ...given }
}
