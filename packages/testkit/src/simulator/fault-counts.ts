/** How often each kind of fault was injected, and each transition fired: a run that injects nothing proves nothing. */
export class FaultCounts {
  readonly counts = new Map<string, number>()

  add(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by)
  }

  merge(other: Iterable<readonly [string, number]>): void {
    for (const [name, count] of other) this.add(name, count)
  }
}
