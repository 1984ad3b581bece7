-- Audits of the ledger: one row for each that ran or could not run. Old rows are removed, but not the newest
-- result of each scope.
CREATE TABLE ledger_audit (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL CHECK (scope IN ('full', 'recent')), -- recent: since the checkpoints
  result TEXT NOT NULL CHECK (result IN ('passed', 'failed', 'not_run')),
  actor TEXT NOT NULL, -- as in operator_action; 'gateway:NAME' where a gateway ran it on schedule
  started_at_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  exchanges_from_ms INTEGER NOT NULL, -- exchanges before are no longer kept; 0 = all are
  counts TEXT NOT NULL, -- JSON
  differences TEXT NOT NULL, -- JSON array; the first ones only
  error TEXT -- why it could not run
) STRICT;
CREATE INDEX ledger_audit_by_scope ON ledger_audit (scope, sequence);
