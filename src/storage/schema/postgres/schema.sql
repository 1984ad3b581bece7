-- What only PostgreSQL has beside the tables of tables.sql: what several nodes need (holds as rows, leases,
-- request windows), and triggers. Its functions have a file each in functions/ and exist before these
-- statements run.

-- The stored functions as they are in the store. One whose file differs is replaced when the store is opened.
CREATE TABLE stored_function (
  name TEXT COLLATE "C" PRIMARY KEY,
  head_md5 TEXT NOT NULL, -- of its parameters and its result, which CREATE OR REPLACE cannot change
  md5 TEXT NOT NULL
);

-- === Ledger ===

-- Whatever books an entry changes the row of its account, so it knows that there is one: the reference would look
-- for it once more for each charge.
ALTER TABLE entry DROP CONSTRAINT entry_account_id_fkey;

-- Takes exchanges of months without a table, so that a charge never fails for lack of one.
CREATE TABLE exchange_default PARTITION OF exchange DEFAULT;

-- Moves with each statement that records requests: so gateways notice new ones. No transaction waits for
-- another because of it. SQLite has row ids for it. settle_exchanges moves it for exchanges.
CREATE SEQUENCE recorded_requests;
CREATE TRIGGER free_exchange_recorded AFTER INSERT ON free_exchange
FOR EACH STATEMENT EXECUTE FUNCTION note_requests();

-- === Holds and windows ===

-- Always the sum of the account's open holds; kept in the same transaction as each hold.
ALTER TABLE account ADD COLUMN held_picos BIGINT NOT NULL DEFAULT 0 CHECK (held_picos >= 0);

-- One row per running gateway process that holds money. A boot is one start of one process; its number never
-- comes again.
CREATE SEQUENCE node_boot;
CREATE TABLE node (
  boot BIGINT PRIMARY KEY DEFAULT nextval('node_boot'),
  name TEXT COLLATE "C" NOT NULL,
  started_at_ms BIGINT NOT NULL,
  -- By the server's clock. Once it has passed, any node may free what this one held.
  lease_until_ms BIGINT NOT NULL
);

-- Few at any time: those of a boot are found without an index, which each hold would have to be written to.
CREATE TABLE hold (
  account_id TEXT COLLATE "C" NOT NULL,
  exchange_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  amount_picos BIGINT NOT NULL CHECK (amount_picos >= 0), -- the most that its exchange can cost
  is_uncovered BOOLEAN NOT NULL, -- in some scope less was left
  boot BIGINT NOT NULL,
  placed_at_ms BIGINT NOT NULL,
  PRIMARY KEY (account_id, exchange_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- Holds whose node died: the end of each exchange is unknown, and nothing was charged for it.
CREATE TABLE expired_hold (
  account_id TEXT COLLATE "C" NOT NULL,
  exchange_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  amount_picos BIGINT NOT NULL,
  boot BIGINT NOT NULL,
  placed_at_ms BIGINT NOT NULL,
  expired_at_ms BIGINT NOT NULL,
  PRIMARY KEY (account_id, exchange_id)
);

-- Admitted requests of accounts that have a limit per minute, numbered one after the other; one row
-- for all of one millisecond. Rows that have left the window are deleted now and then.
CREATE TABLE request_window (
  account_id TEXT COLLATE "C" NOT NULL,
  at_ms BIGINT NOT NULL,
  first_number BIGINT NOT NULL,
  last_number BIGINT NOT NULL,
  PRIMARY KEY (account_id, at_ms)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- The same for keys that have a limit per minute, and for free requests, such as those that count tokens,
-- which have an allowance of their own.
CREATE TABLE key_request_window (
  account_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL, -- '' = whatever the key; of free requests
  allowance TEXT COLLATE "C" NOT NULL CHECK (allowance IN ('requests', 'free_requests')),
  at_ms BIGINT NOT NULL,
  first_number BIGINT NOT NULL,
  last_number BIGINT NOT NULL,
  PRIMARY KEY (account_id, key_id, allowance, at_ms)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- A request as place_requests and decide_requests take it.
CREATE TYPE admission AS (
  place INTEGER, -- in its batch, counted from 1
  account_id TEXT COLLATE "C",
  exchange_id TEXT COLLATE "C", -- NULL = the request only counts toward requests per minute
  key_id TEXT COLLATE "C",
  amount_picos BIGINT, -- held where the request is admitted
  least_picos BIGINT, -- the amount that must be left in each scope
  day TEXT COLLATE "C",
  -- Limits of the key; 0 = none.
  key_daily BIGINT,
  key_monthly BIGINT,
  key_total BIGINT,
  key_rpm INTEGER,
  key_tpm BIGINT
);

-- === Rows that are never changed, deleted or emptied ===

CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
FOR EACH ROW EXECUTE FUNCTION refuse_change('entries are append-only');
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry
FOR EACH ROW EXECUTE FUNCTION refuse_change('entries are append-only');
CREATE TRIGGER entry_is_never_emptied BEFORE TRUNCATE ON entry
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('entries are append-only');
CREATE TRIGGER sealed_entry_is_never_changed BEFORE UPDATE ON sealed_entry
FOR EACH ROW EXECUTE FUNCTION refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_entry_is_never_deleted BEFORE DELETE ON sealed_entry
FOR EACH ROW EXECUTE FUNCTION refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_entry_is_never_emptied BEFORE TRUNCATE ON sealed_entry
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_head_is_never_changed BEFORE UPDATE ON sealed_head
FOR EACH ROW EXECUTE FUNCTION refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_head_is_never_deleted BEFORE DELETE ON sealed_head
FOR EACH ROW EXECUTE FUNCTION refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_head_is_never_emptied BEFORE TRUNCATE ON sealed_head
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER channel_change_is_never_changed BEFORE UPDATE ON channel_change
FOR EACH ROW EXECUTE FUNCTION refuse_change('the history of channels is append-only');
CREATE TRIGGER channel_change_is_never_deleted BEFORE DELETE ON channel_change
FOR EACH ROW EXECUTE FUNCTION refuse_change('the history of channels is append-only');
CREATE TRIGGER channel_change_is_never_emptied BEFORE TRUNCATE ON channel_change
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the history of channels is append-only');
CREATE TRIGGER operator_cost_is_never_changed BEFORE UPDATE ON operator_cost
FOR EACH ROW EXECUTE FUNCTION refuse_change('costs are append-only');
CREATE TRIGGER operator_cost_is_never_deleted BEFORE DELETE ON operator_cost
FOR EACH ROW EXECUTE FUNCTION refuse_change('costs are append-only');
CREATE TRIGGER operator_cost_is_never_emptied BEFORE TRUNCATE ON operator_cost
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('costs are append-only');
CREATE TRIGGER operator_action_is_never_changed BEFORE UPDATE ON operator_action
FOR EACH ROW EXECUTE FUNCTION refuse_change('the log of operators'' actions is append-only');
CREATE TRIGGER operator_action_is_never_deleted BEFORE DELETE ON operator_action
FOR EACH ROW EXECUTE FUNCTION refuse_change('the log of operators'' actions is append-only');
CREATE TRIGGER operator_action_is_never_emptied BEFORE TRUNCATE ON operator_action
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the log of operators'' actions is append-only');
CREATE TRIGGER exchange_is_never_changed BEFORE UPDATE ON exchange
FOR EACH ROW EXECUTE FUNCTION refuse_change('exchanges are recorded once');

-- === Changes that running gateways follow: each statement tells every node that listens ===

CREATE TRIGGER key_changed AFTER INSERT OR UPDATE ON key
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('access');
CREATE TRIGGER account_inserted AFTER INSERT ON account
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('accounts');
CREATE TRIGGER account_updated
AFTER UPDATE OF name, status, daily_limit_picos, monthly_limit_picos, credit_line_picos, holds, has_paid, rpm,
  window_minutes, price_multiplier_ppm, tokens_per_minute
ON account FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('accounts');
CREATE TRIGGER entry_by_operator AFTER INSERT ON entry
FOR EACH ROW WHEN (NEW.kind <> 'charge') EXECUTE FUNCTION raise_revision('balances');
CREATE TRIGGER vendor_changed AFTER INSERT OR UPDATE ON vendor
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('catalogue');
CREATE TRIGGER model_changed AFTER INSERT OR UPDATE ON model
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('catalogue');
CREATE TRIGGER price_changed AFTER INSERT OR UPDATE ON price
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('catalogue');
CREATE TRIGGER channel_changed AFTER INSERT OR UPDATE ON channel
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('catalogue');
