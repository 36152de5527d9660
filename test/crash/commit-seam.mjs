// @ts-check
// A SQLite driver that stops or fails at a COMMIT which several writes share: both sides of a group commit.
//
// It stops the whole process, as it stands inside the library: other code of the process does not run until it is killed.

/** @typedef {import("@invokejs/journal-sqlite/internal").Driver} Driver */
/** @typedef {import("@invokejs/journal-sqlite/internal").Database} Database */
/** @typedef {{ readonly when: "before" | "after", readonly act: "pause" | "fail" }} CommitSeam */

/** The disk is full: the COMMIT did not take place. */
const SQLITE_FULL = 13
/** An I/O error: it may have. */
const SQLITE_IOERR = 10
/** So many writes in one transaction are a shared commit. */
const SHARED = 2

/**
 * @param {Driver} driver
 * @param {CommitSeam} seam
 * @param {() => void} reached called at the boundary, before the process stands still
 * @returns {Driver}
 */
export function seamedDriver(driver, seam, reached) {
  let left = 1
  /** @param {Database} db @returns {Database} */
  const seamed = (db) => {
    let entries = 0
    return {
      prepare: (sql) => db.prepare(sql),
      close: () => db.close(),
      exec(sql) {
        if (sql.startsWith("BEGIN")) entries = 0
        if (sql.startsWith("SAVEPOINT")) entries += 1
        const here = sql === "COMMIT" && entries >= SHARED && left > 0
        if (!here) return db.exec(sql)
        left -= 1
        if (seam.when === "after") db.exec(sql)
        reached()
        if (seam.act === "pause") standStill()
        throw Object.assign(new Error("the seam fails this COMMIT"), {
          errcode: seam.when === "before" ? SQLITE_FULL : SQLITE_IOERR,
        })
      },
    }
  }
  return {
    name: driver.name,
    open: (path, options) => (options.readOnly ? driver.open(path, options) : seamed(driver.open(path, options))),
  }
}

function standStill() {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
