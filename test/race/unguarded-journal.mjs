// @ts-check
// A journal whose unique keys are gone: every process finds nothing and takes rows that nobody else wants. It exists to see
// the race turn red; a race that cannot find two effects finds nothing.

/** @param {import("@invokejs/engine").Journal} journal @param {string} racer @returns {import("@invokejs/engine").Journal} */
export function withoutUniqueKeys(journal, racer) {
  /** @param {string} key */
  const own = (key) => `${key}:${racer}`
  /** @type {Partial<import("@invokejs/engine").Journal>} */
  const changed = {
    view: async (query) => ({ ...(await journal.view(query)), chains: {}, heads: {}, slot: null, holder: null }),
    admit: ({ slots: _slots, ...write }) => {
      const { next } = write.operation
      return journal.admit({
        ...write,
        operation: { ...write.operation, next: { ...next, key: own(next.key) } },
        keys: write.keys.map((row) => ({ ...row, key: own(row.key), chain: own(row.chain) })),
      })
    },
  }
  return new Proxy(journal, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name)
      const value = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
