// Compares what is with what was written down. A pin fails with one line for each difference and says how to move it.

/** How to move a pin; every message ends with it. */
export const MAKE_IT_DELIBERATE = "make it deliberate: update the pin and CHANGELOG.md"

/**
 * What differs between a list of names and its pin, as lines for people; empty where nothing does.
 *
 * The pin has to be a literal in the file that calls this: an expectation computed from the code pins nothing.
 */
export function differencesFromPin(what: string, actual: readonly string[], pinned: readonly string[]): string[] {
  const news = actual.filter((name) => !pinned.includes(name)).map((name) => `${what} has ${name}, which is not pinned`)
  const gone = pinned.filter((name) => !actual.includes(name)).map((name) => `${what} has no ${name} any more`)
  return [...news, ...gone].map((line) => `${line}; ${MAKE_IT_DELIBERATE}`)
}
