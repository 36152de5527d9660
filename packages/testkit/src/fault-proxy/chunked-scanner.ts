/** Finds the end of a chunked body in raw bytes, across any split of them. */
export class ChunkedScanner {
  #line = ""
  #skip = 0
  #inTrailers = false
  done = false

  /** Takes bytes of the body and returns how many belong to it. */
  scan(bytes: Buffer): number {
    let at = 0
    while (at < bytes.length && !this.done) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, bytes.length - at)
        this.#skip -= step
        at += step
        continue
      }
      const newline = bytes.indexOf(0x0a, at)
      const end = newline < 0 ? bytes.length : newline + 1
      this.#line += bytes.toString("latin1", at, end)
      at = end
      if (newline >= 0) this.#endOfLine()
    }
    return at
  }

  #endOfLine(): void {
    const line = this.#line.trim()
    this.#line = ""
    if (this.#inTrailers) {
      this.done = line === ""
      return
    }
    const size = Number.parseInt(line, 16)
    if (size === 0 || Number.isNaN(size)) this.#inTrailers = true
    else this.#skip = size + 2 // the chunk's data is followed by its own CRLF
  }
}

/** The data of a complete chunked body, without its framing. */
export function dechunk(raw: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const newline = raw.indexOf(0x0a, at)
    if (newline < 0) return Buffer.concat(parts)
    const size = Number.parseInt(raw.toString("latin1", at, newline), 16)
    if (Number.isNaN(size) || size === 0) return Buffer.concat(parts)
    parts.push(raw.subarray(newline + 1, newline + 1 + size))
    at = newline + 1 + size + 2
  }
}
