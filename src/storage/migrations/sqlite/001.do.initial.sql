-- The first schema of the embedded store. Times are UTC milliseconds, money is pico-dollars, both
-- 64-bit integers. An amount therefore stays below about nine million USD per account; the
-- operations refuse more. Tables of money and usage are keyed by account first.

CREATE TABLE account (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  daily_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0),
  window_minutes INTEGER NOT NULL DEFAULT 1 CHECK (window_minutes >= 1),
  price_multiplier_ppm INTEGER NOT NULL DEFAULT 1000000 CHECK (price_multiplier_ppm >= 0),
  -- Always the sum of the account's entries; kept in the same transaction as each entry.
  balance_picos INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL
) STRICT;

-- One row per secret of any kind. The secret itself is never stored.
CREATE TABLE key (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('client', 'reader', 'admin')),
  account_id TEXT REFERENCES account (id),
  name TEXT NOT NULL DEFAULT '',
  head TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE, -- SHA-256 of the whole secret, hex
  allowed_models TEXT, -- JSON array of model ids; NULL = every model
  ip_ranges TEXT, -- JSON array of CIDR texts; NULL = everywhere
  daily_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER,
  CHECK ((kind = 'admin') = (account_id IS NULL))
) STRICT;
CREATE INDEX key_by_account ON key (account_id);

-- The ledger: append-only. A charge's reference is its exchange id, a credit's its idempotency key.
CREATE TABLE entry (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES account (id),
  kind TEXT NOT NULL CHECK (kind IN ('credit', 'charge', 'adjustment', 'refund')),
  reference TEXT NOT NULL,
  amount_picos INTEGER NOT NULL, -- signed: a charge is negative
  input_hash TEXT, -- of what was asked under this reference; a repeat with other input is a conflict
  note TEXT,
  created_at_ms INTEGER NOT NULL,
  UNIQUE (account_id, reference)
) STRICT;

-- Credits, adjustments and refunds of one account; its charges are found by reference, whose exchange
-- ids are ordered by time.
CREATE INDEX entry_by_operator_of_account ON entry (account_id, sequence) WHERE kind <> 'charge';

CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;

-- One row per admitted exchange, charged or not: what a statement explains a charge with. A charge
-- belongs to the UTC day on which its exchange ended. With row ids on purpose: the wide rows are
-- appended, and only the narrow keys are written at their account's place.
CREATE TABLE exchange (
  account_id TEXT NOT NULL,
  exchange_id TEXT NOT NULL, -- time-ordered
  key_id TEXT NOT NULL,
  vendor TEXT NOT NULL,
  model TEXT NOT NULL,
  operation TEXT NOT NULL,
  is_stream INTEGER NOT NULL,
  channel TEXT,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER NOT NULL,
  ending TEXT NOT NULL,
  status INTEGER NOT NULL,
  attempt_count INTEGER NOT NULL,
  amount_picos INTEGER NOT NULL CHECK (amount_picos >= 0),
  usage TEXT, -- JSON of metering's Usage
  marks TEXT NOT NULL DEFAULT '', -- comma-separated
  price_lines TEXT NOT NULL DEFAULT '', -- count × price by class, as charged
  vendor_request_id TEXT,
  operator_cost_picos INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, exchange_id)
) STRICT;

CREATE TRIGGER exchange_is_never_changed BEFORE UPDATE ON exchange
BEGIN SELECT RAISE(ABORT, 'exchanges are recorded once'); END;

-- Figures kept for ever, so that a charge and a usage call cost the same in any year.
CREATE TABLE usage_day (
  account_id TEXT NOT NULL,
  day TEXT NOT NULL, -- YYYY-MM-DD, UTC
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  requests INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_tokens INTEGER NOT NULL,
  cost_picos INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, key_id, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_month (
  account_id TEXT NOT NULL,
  month TEXT NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  model TEXT NOT NULL,
  requests INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_tokens INTEGER NOT NULL,
  cost_picos INTEGER NOT NULL,
  PRIMARY KEY (account_id, month, model)
) STRICT, WITHOUT ROWID;

-- The catalogue. What a file no longer names is retired, never deleted.
CREATE TABLE vendor (
  name TEXT PRIMARY KEY,
  format TEXT NOT NULL CHECK (format IN ('messages', 'chat')),
  credential TEXT NOT NULL CHECK (credential IN ('x-api-key', 'bearer')),
  version_header TEXT,
  default_version TEXT,
  require_max_tokens INTEGER NOT NULL DEFAULT 1,
  allowed_features TEXT NOT NULL DEFAULT '', -- comma-separated, see formats/format.ts
  retired_at_ms INTEGER
) STRICT;

CREATE TABLE model (
  id TEXT PRIMARY KEY,
  vendor TEXT NOT NULL REFERENCES vendor (name),
  max_output_tokens INTEGER,
  created_at_ms INTEGER NOT NULL,
  retired_at_ms INTEGER
) STRICT;

-- Price versions; the newest with valid_from_ms in the past is in force.
CREATE TABLE price (
  model TEXT NOT NULL REFERENCES model (id),
  valid_from_ms INTEGER NOT NULL,
  prices TEXT NOT NULL, -- JSON as metering/price-book.ts reads it
  PRIMARY KEY (model, valid_from_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel (
  name TEXT PRIMARY KEY,
  vendor TEXT NOT NULL REFERENCES vendor (name),
  url TEXT NOT NULL,
  credential TEXT NOT NULL, -- 'env:NAME' or 'sealed:…' (AES-256-GCM, see storage/seal.ts)
  models TEXT NOT NULL, -- JSON: model id → vendor-side name or null
  rank INTEGER NOT NULL DEFAULT 0,
  weight INTEGER NOT NULL DEFAULT 1 CHECK (weight >= 1),
  max_concurrent INTEGER,
  check_kind TEXT NOT NULL DEFAULT 'request' CHECK (check_kind IN ('request', 'models', 'none')),
  override TEXT NOT NULL DEFAULT 'enabled' CHECK (override IN ('enabled', 'disabled')),
  retired_at_ms INTEGER
) STRICT;

-- What operators did, append-only, written in the transaction of the change itself.
CREATE TABLE operator_action (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '{}'
) STRICT;

-- A running gateway watches these counters; triggers raise them, so no operation can forget to.
CREATE TABLE revision (
  area TEXT PRIMARY KEY CHECK (area IN ('access', 'accounts', 'balances', 'catalogue')),
  number INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO revision (area) VALUES ('access'), ('accounts'), ('balances'), ('catalogue');

CREATE TRIGGER key_inserted AFTER INSERT ON key
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'access'; END;
CREATE TRIGGER key_updated AFTER UPDATE ON key
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'access'; END;
CREATE TRIGGER account_inserted AFTER INSERT ON account
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'accounts'; END;
CREATE TRIGGER account_updated
AFTER UPDATE OF name, status, daily_limit_picos, rpm, window_minutes, price_multiplier_ppm ON account
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'accounts'; END;
CREATE TRIGGER entry_by_operator AFTER INSERT ON entry WHEN NEW.kind <> 'charge'
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'balances'; END;

CREATE TRIGGER vendor_inserted AFTER INSERT ON vendor
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER vendor_updated AFTER UPDATE ON vendor
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER model_inserted AFTER INSERT ON model
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER model_updated AFTER UPDATE ON model
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER price_inserted AFTER INSERT ON price
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER price_updated AFTER UPDATE ON price
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER channel_inserted AFTER INSERT ON channel
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER channel_updated AFTER UPDATE ON channel
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
