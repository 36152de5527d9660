/** The machine's wall clock, for the writer's thread: it cannot call the clock that its caller was given. */
export function systemWall(): number {
  return Date.now()
}
