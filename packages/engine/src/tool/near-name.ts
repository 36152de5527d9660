/** The known name that a mistyped one most likely means, for error messages. */
export function nearName(name: string, known: readonly string[]): string | null {
  let best: string | null = null
  const typed = plain(name)
  // A slip changes a third of a name at most, and never all of it.
  let bestDistance = Math.min(typed.length, Math.max(1, Math.floor(typed.length / 3)) + 1)
  for (const candidate of known) {
    const distance = editDistance(typed, plain(candidate))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Case and separators are what people mistype most; they count as nothing. */
function plain(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")
}

/** Edits (insert, delete, replace, swap of neighbours) between two short texts. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1))
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(before, column - 2) + 1)
      }
      current.push(cost)
    }
    before = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
