/**
 * Every default and limit, named, with its unit in the name and the reason it has this value (interfaces, "Defaults").
 *
 * A limit prefers a clear refusal before any effect over a surprise after one.
 */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const DEFAULTS = {
  /** How long `call` waits before it answers with what the row says. */
  wait_ms: 60 * SECOND,
  /** How long one attempt may run before its worker stops waiting for it. */
  timeout_ms: 30 * SECOND,
  /** How long an operation may go on dispatching. It bounds dispatches, not knowledge. */
  deadline_ms: 24 * HOUR,
  /** Attempts that left the machine, over the operation's life. */
  attempts: 3,
  attempts_irreversible: 1,
  /** Full jitter between these bounds, doubling. */
  backoff_min_ms: 1 * SECOND,
  backoff_max_ms: 5 * MINUTE,
  /** Delays of the first probes; hourly after that, until `probes_answered` were answered. */
  probe_delays_ms: [2 * SECOND, 5 * SECOND, 15 * SECOND, 1 * MINUTE, 5 * MINUTE, 15 * MINUTE],
  probe_interval_ms: HOUR,
  probes_answered: 20,
  /** In review: hourly for the first day, then daily. */
  review_probe_interval_ms: DAY,
  probe_timeout_ms: 20 * SECOND,
  /** A worker's lease, renewed at a third of it. */
  lease_ms: 30 * SECOND,
  lease_renew_ms: 10 * SECOND,
  /** Between `send_before` and the end of the lease: covers scheduling and clock error of one machine. */
  lease_margin_ms: 5 * SECOND,
  /** How long an effect request's body may go on leaving after its head. */
  body_ms: 30 * SECOND,
  drain_ms: 10 * SECOND,
  /** Q: the provider's worst execution time after it has the request. */
  max_execution_ms: 5 * MINUTE,
  /** V: how long a written object may be missing from a lookup. */
  visibility_ms: 1 * MINUTE,
  negatives: 2,
  spacing_min_ms: 10 * SECOND,
  skew_ms: 2 * SECOND,
  /** A near-duplicate of an operation that succeeded inside this window is refused. */
  repeat_window_ms: 24 * HOUR,
  approval_ms: 24 * HOUR,
  hold_for_ms: 1 * HOUR,
  open_for_ms: 1 * HOUR,
  /** Attempts proved never to have left do not count and go on for this long. */
  connect_for_ms: 2 * MINUTE,
  settle_by_ms: 72 * HOUR,
  thaw_max_age_ms: 10 * SECOND,
  max_clock_step_ms: 60 * SECOND,
  key_margin_min_ms: 5 * MINUTE,
  /** Operator and caller retries in one operation's life. */
  retries: 10,
  look_before_ms: 2 * SECOND,
  seen_max: 100,
  params_bytes_max: 64 * 1024,
  output_bytes_max: 256 * 1024,
  response_bytes_max: 8 * 1024 * 1024,
  evidence_kept: 64,
  payloads_kept_ms: 90 * DAY,
  age_alarm_ms: 1 * HOUR,
  page: 50,
  page_max: 500,
  key_length_max: 512,
  tenant: "default",
  agent_id: "default",
} as const
