-- The first schema of the journal: operations, the keys and slots that guard them, and their events.
-- Times are database times in ms. Bodies are JSON text. Everything a query filters or orders by has a column of its own.

-- One row. `commits` grows by one with every transaction; `high_water` never goes back.
CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  journal_id TEXT NOT NULL,
  name TEXT NOT NULL,
  incarnation TEXT NOT NULL,
  digest_key TEXT NOT NULL,
  high_water INTEGER NOT NULL,
  commits INTEGER NOT NULL,
  last_event_id TEXT,
  quarantined INTEGER NOT NULL DEFAULT 0 CHECK (quarantined IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE quarantines (
  n INTEGER PRIMARY KEY,
  since INTEGER NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  incarnation_before TEXT NOT NULL,
  lifted_at INTEGER,
  lifted_by TEXT,
  statement TEXT
) STRICT;

-- `seq`, `head_hash` and the duplicates belong to the journal: they move without the version, so that counting a
-- duplicate makes no compare-and-set of the engine fail.
CREATE TABLE operations (
  n INTEGER PRIMARY KEY,
  operation_id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  chain TEXT NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  version INTEGER NOT NULL CHECK (version >= 1),
  state TEXT NOT NULL CHECK (
    state IN (
      'held', 'awaiting_approval', 'ready', 'dispatched', 'accepted', 'unknown', 'needs_review', 'succeeded', 'failed',
      'not_applied', 'undone', 'closed_unknown', 'refused', 'denied', 'expired', 'cancelled', 'replan'
    )
  ),
  terminal INTEGER NOT NULL CHECK (terminal IN (0, 1)),
  contradicted INTEGER NOT NULL CHECK (contradicted IN (0, 1)),
  tool TEXT NOT NULL,
  namespace TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  run_id TEXT,
  held_by TEXT,
  match_digest TEXT,
  object_id TEXT,
  attempts INTEGER NOT NULL,
  -- Worker and lease of the open attempt, while `dispatched`.
  worker_id TEXT,
  lease_token TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  due_at INTEGER,
  purged_at INTEGER,
  seq INTEGER NOT NULL,
  head_hash TEXT NOT NULL,
  duplicates INTEGER NOT NULL DEFAULT 0,
  duplicated_at INTEGER,
  body TEXT NOT NULL,
  UNIQUE (tenant, chain, revision)
) STRICT;

CREATE INDEX operations_by_tenant ON operations (tenant, operation_id);
CREATE INDEX operations_open ON operations (operation_id, state) WHERE terminal = 0;
CREATE INDEX operations_due ON operations (due_at, tool) WHERE due_at IS NOT NULL;
CREATE INDEX operations_dispatched ON operations (worker_id, lease_token, tool) WHERE state = 'dispatched';
CREATE INDEX operations_held ON operations (held_by, operation_id) WHERE held_by IS NOT NULL AND state = 'held';
CREATE INDEX operations_by_run ON operations (run_id, operation_id) WHERE run_id IS NOT NULL;
CREATE INDEX operations_contradicted ON operations (operation_id) WHERE contradicted = 1;
CREATE INDEX operations_purgeable ON operations (settled_at) WHERE settled_at IS NOT NULL AND purged_at IS NULL;
CREATE INDEX operations_by_match ON operations (tenant, namespace, match_digest)
  WHERE match_digest IS NOT NULL AND (terminal = 0 OR (state IN ('succeeded', 'closed_unknown') AND object_id IS NULL));

-- Identity and intent fields, for search.
CREATE TABLE operation_fields (
  field TEXT NOT NULL,
  value TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  PRIMARY KEY (field, value, operation_id)
) STRICT, WITHOUT ROWID;

-- The tenant's one unique index of keys: explicit, derived under every registered identity version, aliases.
CREATE TABLE chain_keys (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  chain TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('explicit', 'derived', 'run')),
  at INTEGER NOT NULL,
  PRIMARY KEY (key, tenant)
) STRICT, WITHOUT ROWID;

CREATE TABLE slots (
  tenant TEXT NOT NULL,
  namespace TEXT NOT NULL,
  intent_digest TEXT NOT NULL,
  operation_id TEXT,
  version INTEGER NOT NULL,
  PRIMARY KEY (tenant, namespace, intent_digest)
) STRICT, WITHOUT ROWID;

-- The last admitted write of a resource.
CREATE TABLE resources (
  tenant TEXT NOT NULL,
  resource TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  PRIMARY KEY (tenant, resource)
) STRICT, WITHOUT ROWID;

-- One object confirms one operation.
CREATE TABLE objects (
  tenant TEXT NOT NULL,
  account TEXT NOT NULL,
  object_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  PRIMARY KEY (tenant, account, object_id, kind)
) STRICT, WITHOUT ROWID;

-- Rows that others compare and set: entities, approvals, reservations, checkpoints. A deleted row keeps its version and
-- loses its value, so that a writer who read it before the deletion cannot take its successor for it.
CREATE TABLE sets (
  kind TEXT NOT NULL CHECK (kind IN ('entity', 'approval', 'reservation', 'checkpoint')),
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  value TEXT,
  PRIMARY KEY (kind, tenant, id)
) STRICT, WITHOUT ROWID;

-- `n` is the order of commits. Nothing but the data of an event may ever go, and only all of it.
CREATE TABLE events (
  n INTEGER PRIMARY KEY,
  operation_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 1),
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  from_state TEXT,
  to_state TEXT,
  actor TEXT NOT NULL,
  data TEXT,
  data_digest TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE (operation_id, seq)
) STRICT;

CREATE TRIGGER events_are_not_edited BEFORE UPDATE ON events
WHEN NEW.data IS NOT NULL OR NEW.n IS NOT OLD.n OR NEW.operation_id IS NOT OLD.operation_id
  OR NEW.tenant IS NOT OLD.tenant OR NEW.seq IS NOT OLD.seq OR NEW.at IS NOT OLD.at OR NEW.type IS NOT OLD.type
  OR NEW.from_state IS NOT OLD.from_state OR NEW.to_state IS NOT OLD.to_state OR NEW.actor IS NOT OLD.actor
  OR NEW.data_digest IS NOT OLD.data_digest OR NEW.prev_hash IS NOT OLD.prev_hash OR NEW.hash IS NOT OLD.hash
BEGIN
  SELECT RAISE(ABORT, 'events are append-only');
END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN
  SELECT RAISE(ABORT, 'events are append-only');
END;
CREATE TRIGGER operations_are_not_deleted BEFORE DELETE ON operations
BEGIN
  SELECT RAISE(ABORT, 'operations are kept as tombstones');
END;
CREATE TRIGGER keys_are_not_deleted BEFORE DELETE ON chain_keys
BEGIN
  SELECT RAISE(ABORT, 'keys are kept for ever');
END;

CREATE TABLE incidents (
  n INTEGER PRIMARY KEY,
  incident_id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  operation_id TEXT,
  detail TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  closed_at INTEGER,
  closed_by TEXT,
  resolution TEXT
) STRICT;
CREATE INDEX incidents_open ON incidents (operation_id) WHERE closed_at IS NULL;
CREATE INDEX incidents_by_operation ON incidents (operation_id, n) WHERE operation_id IS NOT NULL;

-- `lock_file` and `lock_inode` name the file whose kernel-released lock proves that the worker's process lives;
-- `lock_host` and `lock_boot_id` are the machine as the journal itself saw it, since the proof rests on them.
CREATE TABLE workers (
  worker_id TEXT PRIMARY KEY,
  lease_token TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  host TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  tools TEXT NOT NULL,
  lock_file TEXT NOT NULL,
  lock_inode TEXT NOT NULL,
  lock_host TEXT NOT NULL,
  lock_boot_id TEXT NOT NULL,
  gone_at INTEGER,
  gone_proof TEXT,
  closed_at INTEGER
) STRICT, WITHOUT ROWID;

-- Which writes took place, by the id their maker gave them. Bounded by age.
CREATE TABLE writes (
  n INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  operation_id TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
