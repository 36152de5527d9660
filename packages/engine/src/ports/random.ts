/** Randomness, so that one seed replays one run. */
export interface Random {
  /** Uniform in [0, 1). */
  unit(): number
}
