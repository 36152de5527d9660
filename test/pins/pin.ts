// Compares what is with what was written down. A pin that fails says what differs and how to move it.

/**
 * What differs between a list of names and its pin, as lines for people; empty where nothing does.
 *
 * The pin has to be a literal in the file that calls this: an expectation computed from the code pins nothing.
 */
export function differencesFromPin(what: string, actual: readonly string[], pinned: readonly string[]): string[] {
  const news = actual.filter((name) => !pinned.includes(name))
  const gone = pinned.filter((name) => !actual.includes(name))
  return [
    ...(news.length > 0 ? [`${what}: not pinned yet: ${news.join(", ")}; ${MAKE_IT_DELIBERATE}`] : []),
    ...(gone.length > 0 ? [`${what}: pinned, and gone: ${gone.join(", ")}; ${MAKE_IT_DELIBERATE}`] : []),
  ]
}

const MAKE_IT_DELIBERATE = "make it deliberate: update the pin and CHANGELOG.md"
