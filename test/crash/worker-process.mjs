// @ts-check
// A real process that is driven over lines of JSON: what it says, what it is told, and how it ends.
//
// It is stopped and killed by signal, never asked to pretend. The bound on a wait only turns a hang into a failure that
// says what was awaited; it is far above any honest run.

import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const GIVE_UP_MS = 120_000
const ERRORS_KEPT = 2_000

/** @typedef {{ readonly name: string, readonly hear: (value: unknown) => void, readonly fail: (error: Error) => void }} Listener */

export class WorkerProcess {
  /** @type {import("node:child_process").ChildProcessByStdio<import("node:stream").Writable, import("node:stream").Readable, import("node:stream").Readable>} */
  #child
  /** @type {Record<string, unknown>[]} */
  #unheard = []
  /** @type {Listener[]} */
  #listeners = []
  #errors = ""
  #ended = false
  /** @type {Promise<number | null>} */
  #end

  /**
   * @param {string} program path of the module that it runs
   * @param {unknown} order what it is to do, its only argument
   */
  constructor(program, order) {
    this.#child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: ["pipe", "pipe", "pipe"] })
    this.#child.stdin.on("error", () => {}) // it may be gone before its input is written
    this.#child.stderr.on("data", (part) => {
      this.#errors = (this.#errors + String(part)).slice(-ERRORS_KEPT)
    })
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#heard(JSON.parse(line)))
    this.#end = new Promise((resolve) => {
      this.#child.once("close", (code) => {
        this.#ended = true
        for (const { name, fail } of this.#listeners.splice(0)) fail(this.#gone(name))
        resolve(code)
      })
    })
  }

  /** @param {URL} program @param {unknown} order */
  static start(program, order) {
    return new WorkerProcess(fileURLToPath(program), order)
  }

  /** Whether the process is no more. */
  get isGone() {
    return this.#ended
  }

  /**
   * Waits for the next line that has this property, and answers with its value.
   *
   * @param {string} name
   * @returns {Promise<unknown>}
   */
  says(name) {
    const index = this.#unheard.findIndex((line) => name in line)
    if (index >= 0) return Promise.resolve(this.#unheard.splice(index, 1)[0]?.[name])
    if (this.#ended) return Promise.reject(this.#gone(name))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#listeners = this.#listeners.filter((one) => one !== listener)
        reject(new Error(`a process did not say "${name}" in ${GIVE_UP_MS} ms; ${this.#said()}`))
      }, GIVE_UP_MS)
      /** @type {Listener} */
      const listener = {
        name,
        hear: (value) => {
          clearTimeout(timer)
          resolve(value)
        },
        fail: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      this.#listeners.push(listener)
    })
  }

  /** @param {unknown} line */
  tell(line) {
    this.#child.stdin.write(`${JSON.stringify(line)}\n`)
  }

  /** @param {NodeJS.Signals} name */
  signal(name) {
    this.#child.kill(name)
  }

  /** SIGKILL, and waits until it is gone. */
  async kill() {
    this.#child.kill("SIGKILL")
    await this.#end
  }

  /** Waits until it ends by itself; its exit code. */
  ended() {
    return this.#end
  }

  /** @param {Record<string, unknown>} line */
  #heard(line) {
    const listener = this.#listeners.find(({ name }) => name in line)
    if (listener === undefined) {
      this.#unheard.push(line)
      return
    }
    this.#listeners = this.#listeners.filter((one) => one !== listener)
    listener.hear(line[listener.name])
  }

  /** @param {string} name */
  #gone(name) {
    return new Error(`a process ended before it said "${name}"; ${this.#said()}`)
  }

  #said() {
    const lines = this.#unheard.map((line) => JSON.stringify(line).slice(0, 200)).join(" ")
    return `unheard: ${lines || "nothing"}; errors: ${this.#errors || "none"}`
  }
}
