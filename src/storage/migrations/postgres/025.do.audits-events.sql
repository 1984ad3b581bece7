-- Audits of the ledger: one row for each that ran or could not run. Old rows are removed, but not the newest
-- result of each scope.
CREATE TABLE ledger_audit (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('full', 'recent')), -- recent: since the checkpoints
  result TEXT COLLATE "C" NOT NULL CHECK (result IN ('passed', 'failed', 'not_run')),
  actor TEXT COLLATE "C" NOT NULL, -- as in operator_action; 'gateway:NAME' where a gateway ran it on schedule
  started_at_ms BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  exchanges_from_ms BIGINT NOT NULL, -- exchanges before are no longer kept; 0 = all are
  counts TEXT COLLATE "C" NOT NULL, -- JSON
  differences TEXT COLLATE "C" NOT NULL, -- JSON array; the first ones only
  error TEXT COLLATE "C" -- why it could not run
);
CREATE INDEX ledger_audit_by_scope ON ledger_audit (scope, sequence);

-- The order in which requests were recorded, for the live feed of events; exchange ids are in the order in
-- which requests began. SQLite has row ids for it. NULL in rows of earlier releases: no table is rewritten.
CREATE SEQUENCE exchange_record;
ALTER TABLE exchange ADD COLUMN record_number BIGINT;
ALTER TABLE exchange ALTER COLUMN record_number SET DEFAULT nextval('exchange_record');
CREATE INDEX exchange_by_record ON exchange (record_number) WHERE record_number IS NOT NULL;

CREATE SEQUENCE free_exchange_record;
ALTER TABLE free_exchange ADD COLUMN record_number BIGINT;
ALTER TABLE free_exchange ALTER COLUMN record_number SET DEFAULT nextval('free_exchange_record');
CREATE INDEX free_exchange_by_record ON free_exchange (record_number) WHERE record_number IS NOT NULL;
