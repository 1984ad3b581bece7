-- The first schema on PostgreSQL: the same tables and names as on SQLite, and what several nodes need
-- besides: holds as rows, leases, request windows. Times are UTC milliseconds, money is pico-dollars,
-- both BIGINT: an amount stays below about nine million USD per account, and the operations refuse
-- more. Text is compared by its bytes whatever the database's locale, as ids and references demand.

CREATE TABLE account (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  status TEXT COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  daily_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0),
  window_minutes INTEGER NOT NULL DEFAULT 1 CHECK (window_minutes >= 1),
  price_multiplier_ppm BIGINT NOT NULL DEFAULT 1000000 CHECK (price_multiplier_ppm >= 0),
  -- Always the sum of the account's entries; kept in the same transaction as each entry.
  balance_picos BIGINT NOT NULL DEFAULT 0,
  -- Always the sum of the account's open holds; kept in the same transaction as each hold.
  held_picos BIGINT NOT NULL DEFAULT 0 CHECK (held_picos >= 0),
  created_at_ms BIGINT NOT NULL
) WITH (fillfactor = 50); -- every hold and every charge rewrites a row of it, in place where there is room

-- One row per secret of any kind. The secret itself is never stored.
CREATE TABLE key (
  id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('client', 'reader', 'admin')),
  account_id TEXT COLLATE "C" REFERENCES account (id),
  name TEXT COLLATE "C" NOT NULL DEFAULT '',
  head TEXT COLLATE "C" NOT NULL,
  secret_hash TEXT COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the whole secret, hex
  allowed_models TEXT COLLATE "C", -- JSON array of model ids; NULL = every model
  ip_ranges TEXT COLLATE "C", -- JSON array of CIDR texts; NULL = everywhere
  daily_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  created_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT,
  revoked_at_ms BIGINT,
  CHECK ((kind = 'admin') = (account_id IS NULL))
);
CREATE INDEX key_by_account ON key (account_id);

-- The ledger: append-only. A charge's reference is its exchange id, a credit's its idempotency key.
CREATE TABLE entry (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('credit', 'charge', 'adjustment', 'refund')),
  reference TEXT COLLATE "C" NOT NULL,
  amount_picos BIGINT NOT NULL, -- signed: a charge is negative
  input_hash TEXT COLLATE "C", -- of what was asked under this reference; a repeat with other input is a conflict
  note TEXT COLLATE "C",
  created_at_ms BIGINT NOT NULL,
  UNIQUE (account_id, reference)
);

-- Credits, adjustments and refunds of one account; its charges are found by reference, whose exchange
-- ids are ordered by time.
CREATE INDEX entry_by_operator_of_account ON entry (account_id, sequence) WHERE kind <> 'charge';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of table % are append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry
FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entry_is_never_emptied BEFORE TRUNCATE ON entry
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- One row per admitted exchange, charged or not: what a statement explains a charge with. A charge
-- belongs to the UTC day on which its exchange ended. Parted by month along the exchange id, which
-- begins with the time it was made at: so the primary key holds across all partitions, no exchange
-- can be recorded in two of them, and old months are dropped as whole tables. That nothing is charged
-- twice does not even depend on it: entries are in one table and unique by (account, reference).
CREATE TABLE exchange (
  account_id TEXT COLLATE "C" NOT NULL,
  exchange_id TEXT COLLATE "C" NOT NULL, -- time-ordered
  key_id TEXT COLLATE "C" NOT NULL,
  vendor TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  is_stream INTEGER NOT NULL,
  channel TEXT COLLATE "C",
  started_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT NOT NULL,
  ending TEXT COLLATE "C" NOT NULL,
  status INTEGER NOT NULL,
  attempt_count INTEGER NOT NULL,
  amount_picos BIGINT NOT NULL CHECK (amount_picos >= 0),
  usage TEXT COLLATE "C", -- JSON of metering's Usage
  marks TEXT COLLATE "C" NOT NULL DEFAULT '', -- comma-separated
  price_lines TEXT COLLATE "C" NOT NULL DEFAULT '', -- count × price by class, as charged
  vendor_request_id TEXT COLLATE "C",
  operator_cost_picos BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, exchange_id)
) PARTITION BY RANGE (exchange_id);

CREATE TRIGGER exchange_is_never_changed BEFORE UPDATE ON exchange
FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Takes what no month has a table for, so that a charge never fails for want of one.
CREATE TABLE exchange_default PARTITION OF exchange DEFAULT;

-- Smaller than every exchange id made at or after this time; see base/id.ts.
CREATE FUNCTION first_exchange_id(p_at_ms BIGINT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_text TEXT := '';
  v_rest BIGINT := p_at_ms;
BEGIN
  FOR i IN 1..10 LOOP
    v_text := substr('0123456789abcdefghjkmnpqrstvwxyz', (v_rest % 32)::int + 1, 1) || v_text;
    v_rest := v_rest / 32;
  END LOOP;
  RETURN 'ex_' || v_text;
END $$;

-- Gives every month from the one of p_from_ms to the one of p_to_ms a partition, moving what the
-- default one has taken in for it. Idempotent. The default one must be free for that, and everybody who
-- comes while it is waited for waits as well, charges too: where somebody reads it, as a dump does for
-- long, no partition is made now, and the next call tries again.
CREATE FUNCTION ensure_exchange_partitions(p_from_ms BIGINT, p_to_ms BIGINT) RETURNS VOID
LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  v_month TIMESTAMP := date_trunc('month', to_timestamp(p_from_ms / 1000.0) AT TIME ZONE 'UTC');
  v_last TIMESTAMP := to_timestamp(p_to_ms / 1000.0) AT TIME ZONE 'UTC';
  v_name TEXT;
  v_low TEXT;
  v_high TEXT;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('turnpike exchange partitions'));
  WHILE v_month <= v_last LOOP
    v_name := 'exchange_' || to_char(v_month, 'YYYY_MM');
    IF to_regclass(v_name) IS NULL THEN
      v_low := first_exchange_id((extract(epoch FROM v_month AT TIME ZONE 'UTC') * 1000)::bigint);
      v_high := first_exchange_id(
        (extract(epoch FROM (v_month + interval '1 month') AT TIME ZONE 'UTC') * 1000)::bigint);
      EXECUTE format('CREATE TABLE %I (LIKE exchange INCLUDING ALL)', v_name);
      EXECUTE format(
        'WITH moved AS (DELETE FROM exchange_default WHERE exchange_id >= %L AND exchange_id < %L
           RETURNING *) INSERT INTO %I SELECT * FROM moved', v_low, v_high, v_name);
      EXECUTE format('ALTER TABLE exchange ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        v_name, v_low, v_high);
    END IF;
    v_month := v_month + interval '1 month';
  END LOOP;
EXCEPTION WHEN lock_not_available THEN
  NULL;
END $$;

-- Figures kept for ever, so that a charge and a usage call cost the same in any year.
CREATE TABLE usage_day (
  account_id TEXT COLLATE "C" NOT NULL,
  day TEXT COLLATE "C" NOT NULL, -- YYYY-MM-DD, UTC
  key_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  requests BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cache_tokens BIGINT NOT NULL,
  cost_picos BIGINT NOT NULL,
  PRIMARY KEY (account_id, day, key_id, model)
);

CREATE TABLE usage_month (
  account_id TEXT COLLATE "C" NOT NULL,
  month TEXT COLLATE "C" NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  model TEXT COLLATE "C" NOT NULL,
  requests BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cache_tokens BIGINT NOT NULL,
  cost_picos BIGINT NOT NULL,
  PRIMARY KEY (account_id, month, model)
);

-- The catalogue. What a file no longer names is retired, never deleted.
CREATE TABLE vendor (
  name TEXT COLLATE "C" PRIMARY KEY,
  format TEXT COLLATE "C" NOT NULL CHECK (format IN ('messages', 'chat')),
  credential TEXT COLLATE "C" NOT NULL CHECK (credential IN ('x-api-key', 'bearer')),
  version_header TEXT COLLATE "C",
  default_version TEXT COLLATE "C",
  require_max_tokens INTEGER NOT NULL DEFAULT 1,
  allowed_features TEXT COLLATE "C" NOT NULL DEFAULT '', -- comma-separated, see formats/format.ts
  retired_at_ms BIGINT
);

CREATE TABLE model (
  id TEXT COLLATE "C" PRIMARY KEY,
  vendor TEXT COLLATE "C" NOT NULL REFERENCES vendor (name),
  max_output_tokens BIGINT,
  created_at_ms BIGINT NOT NULL,
  retired_at_ms BIGINT
);

-- Price versions; the newest with valid_from_ms in the past is in force.
CREATE TABLE price (
  model TEXT COLLATE "C" NOT NULL REFERENCES model (id),
  valid_from_ms BIGINT NOT NULL,
  prices TEXT COLLATE "C" NOT NULL, -- JSON as metering/price-book.ts reads it
  PRIMARY KEY (model, valid_from_ms)
);

CREATE TABLE channel (
  name TEXT COLLATE "C" PRIMARY KEY,
  vendor TEXT COLLATE "C" NOT NULL REFERENCES vendor (name),
  url TEXT COLLATE "C" NOT NULL,
  credential TEXT COLLATE "C" NOT NULL, -- 'env:NAME' or 'sealed:…' (AES-256-GCM, see storage/seal.ts)
  models TEXT COLLATE "C" NOT NULL, -- JSON: model id → vendor-side name or null
  rank INTEGER NOT NULL DEFAULT 0,
  weight INTEGER NOT NULL DEFAULT 1 CHECK (weight >= 1),
  max_concurrent INTEGER,
  check_kind TEXT COLLATE "C" NOT NULL DEFAULT 'request' CHECK (check_kind IN ('request', 'models', 'none')),
  override TEXT COLLATE "C" NOT NULL DEFAULT 'enabled' CHECK (override IN ('enabled', 'disabled')),
  retired_at_ms BIGINT
);

-- What operators did, append-only, written in the transaction of the change itself.
CREATE TABLE operator_action (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_ms BIGINT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  detail TEXT COLLATE "C" NOT NULL DEFAULT '{}'
);

-- A running gateway watches these counters; triggers raise them, so no operation can forget to, and
-- tell every node that listens.
CREATE TABLE revision (
  area TEXT COLLATE "C" PRIMARY KEY CHECK (area IN ('access', 'accounts', 'balances', 'catalogue')),
  number BIGINT NOT NULL DEFAULT 0
);
INSERT INTO revision (area) VALUES ('access'), ('accounts'), ('balances'), ('catalogue');

CREATE FUNCTION raise_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE revision SET number = number + 1 WHERE area = TG_ARGV[0];
  PERFORM pg_notify('turnpike_revision', TG_ARGV[0]);
  RETURN NULL;
END $$;
CREATE TRIGGER key_changed AFTER INSERT OR UPDATE ON key
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('access');
CREATE TRIGGER account_inserted AFTER INSERT ON account
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('accounts');
CREATE TRIGGER account_updated
AFTER UPDATE OF name, status, daily_limit_picos, rpm, window_minutes, price_multiplier_ppm ON account
FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('accounts');
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

-- One row per running gateway process. A boot is one start of one process; its number never comes again.
CREATE SEQUENCE node_boot;
CREATE TABLE node (
  boot BIGINT PRIMARY KEY DEFAULT nextval('node_boot'),
  name TEXT COLLATE "C" NOT NULL,
  started_at_ms BIGINT NOT NULL,
  -- By the server's clock. Once it has passed, any node may free what this one held.
  lease_until_ms BIGINT NOT NULL
);

CREATE TABLE hold (
  account_id TEXT COLLATE "C" NOT NULL,
  exchange_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  amount_picos BIGINT NOT NULL CHECK (amount_picos >= 0),
  boot BIGINT NOT NULL,
  placed_at_ms BIGINT NOT NULL,
  PRIMARY KEY (account_id, exchange_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE INDEX hold_by_boot ON hold (boot);

-- Holds whose node died: what became of each exchange is unknown, and nothing was charged for it.
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

-- The moment by which all nodes agree: the server's, unless a test holds time still.
CREATE FUNCTION store_time(p_now_ms BIGINT) RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
  SELECT COALESCE(p_now_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- Admits or refuses a batch of requests, one statement and one commit. Account rows are locked in
-- the order of their ids, so no two batches wait for each other; everything is read after the locks
-- are held, so it is what the batch before has left. Requests of one account are decided in the
-- order they stand in: requests per minute, balance, the account's day, the key's day. What has been
-- decided is written at the end, each table at once.
-- p_exchange_ids holds NULL for a request that only counts toward requests per minute, and no
-- exchange twice. Ended exchanges that come along are booked before anything is decided.
--
-- Here and below: with plans of its own for each batch the server would plan for longer than it works,
-- and while tables are small it would take plans that read them as a whole, and keep them.
CREATE FUNCTION place_holds(
  p_now_ms BIGINT,
  p_boot BIGINT,
  p_account_ids TEXT[],
  p_exchange_ids TEXT[],
  p_key_ids TEXT[],
  p_amounts_picos BIGINT[],
  p_key_limits_picos BIGINT[],
  p_days TEXT[],
  p_ended_account_ids TEXT[], -- of the records that follow; both NULL where there are none
  p_ended_records JSON
) RETURNS TABLE (
  place INTEGER,
  outcome TEXT,
  amount_picos BIGINT, -- of the hold there is
  balance_picos BIGINT,
  held_picos BIGINT,
  is_held_only BOOLEAN, -- the balance alone would do
  used_picos BIGINT,
  limit_picos BIGINT,
  retry_after_ms BIGINT,
  rpm INTEGER,
  window_minutes INTEGER,
  counted BIGINT, -- requests in the window, this one included
  oldest_age_ms BIGINT -- of the first of them
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_now BIGINT;
  v_request RECORD;
  v_new INTEGER[] := '{}'; -- places of the holds to be written
  -- The accounts met so far; the last of them is the one whose requests are being decided.
  v_count INTEGER := 0;
  v_account_ids TEXT[];
  v_account_id TEXT;
  v_helds BIGINT[];
  v_moments BIGINT[]; -- of this batch in the account's window; never before an earlier one
  v_lasts BIGINT[]; -- number of the window's last request before this batch
  v_admitted INTEGER[]; -- of this batch, where requests per minute are limited
  v_held BIGINT;
  v_moment BIGINT;
  v_last BIGINT;
  v_oldest BIGINT;
  v_window_ms BIGINT;
  v_day TEXT;
  v_used BIGINT;
BEGIN
  -- Gateways look at this once for each connection; a reload may have changed it since.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids || p_ended_account_ids)
    ORDER BY a.id FOR NO KEY UPDATE;
  IF p_ended_records IS NOT NULL THEN
    PERFORM settle_exchanges(NULL, p_ended_records);
  END IF;
  v_now := store_time(p_now_ms);
  IF NOT EXISTS (SELECT 1 FROM node n WHERE n.boot = p_boot AND n.lease_until_ms > v_now) THEN
    place := 0;
    outcome := 'lease_lost';
    RETURN NEXT;
    RETURN;
  END IF;

  FOR v_request IN
    SELECT r.*, a.balance_picos, a.held_picos, a.daily_limit_picos, a.rpm, a.window_minutes,
        h.amount_picos AS there_picos
      FROM unnest(
        p_account_ids, p_exchange_ids, p_key_ids, p_amounts_picos, p_key_limits_picos, p_days
      ) WITH ORDINALITY
        AS r (account_id, exchange_id, key_id, amount_picos, key_limit_picos, day, place)
      JOIN account a ON a.id = r.account_id
      LEFT JOIN hold h ON h.account_id = r.account_id AND h.exchange_id = r.exchange_id
     ORDER BY r.account_id, r.place
  LOOP
    IF v_account_id IS DISTINCT FROM v_request.account_id THEN
      v_account_id := v_request.account_id;
      balance_picos := v_request.balance_picos;
      v_held := v_request.held_picos;
      rpm := v_request.rpm;
      window_minutes := v_request.window_minutes;
      counted := 0;
      v_day := NULL;
      v_moment := NULL;
      v_last := NULL;
      v_oldest := NULL;
      IF rpm > 0 THEN
        v_window_ms := window_minutes * 60000::bigint;
        SELECT l.at_ms, l.last_number, f.at_ms, l.last_number - f.first_number + 1
          INTO v_moment, v_last, v_oldest, counted
          FROM (SELECT w.at_ms, w.last_number FROM request_window w
                 WHERE w.account_id = v_account_id ORDER BY w.at_ms DESC LIMIT 1) l
          LEFT JOIN LATERAL (
            SELECT w.at_ms, w.first_number FROM request_window w
             WHERE w.account_id = v_account_id AND w.at_ms > GREATEST(v_now, l.at_ms) - v_window_ms
             ORDER BY w.at_ms LIMIT 1) f ON TRUE;
        v_moment := GREATEST(v_now, v_moment);
        v_last := COALESCE(v_last, 0);
        counted := COALESCE(counted, 0);
      END IF;
      v_count := v_count + 1;
      v_account_ids[v_count] := v_account_id;
      v_helds[v_count] := v_held;
      v_moments[v_count] := v_moment;
      v_lasts[v_count] := v_last;
      v_admitted[v_count] := 0;
    END IF;

    place := v_request.place;
    amount_picos := v_request.there_picos;
    held_picos := v_held;
    is_held_only := NULL;
    used_picos := NULL;
    limit_picos := NULL;
    retry_after_ms := NULL;
    oldest_age_ms := v_moment - v_oldest;

    IF amount_picos IS NOT NULL THEN
      outcome := 'hold';
      RETURN NEXT;
      CONTINUE;
    END IF;

    IF rpm > 0 AND counted >= rpm::bigint * window_minutes THEN
      -- After a limit was lowered, more than the oldest one has to leave the window. What this
      -- batch has admitted is not in the table yet and leaves last.
      SELECT w.at_ms INTO retry_after_ms FROM request_window w
       WHERE w.account_id = v_account_id AND w.at_ms > v_moment - v_window_ms
         AND w.last_number > v_last + v_admitted[v_count] - rpm::bigint * window_minutes
       ORDER BY w.at_ms LIMIT 1;
      retry_after_ms := COALESCE(retry_after_ms, v_moment) - v_moment + v_window_ms;
      outcome := 'rate_limited';
      RETURN NEXT;
      CONTINUE;
    END IF;

    IF v_request.exchange_id IS NOT NULL THEN
      IF balance_picos - v_held < v_request.amount_picos THEN
        outcome := 'insufficient_balance';
        is_held_only := balance_picos >= v_request.amount_picos;
        RETURN NEXT;
        CONTINUE;
      END IF;
      IF v_request.daily_limit_picos > 0 THEN
        IF v_day IS DISTINCT FROM v_request.day THEN
          v_day := v_request.day;
          SELECT COALESCE(SUM(u.cost_picos), 0) INTO v_used FROM usage_day u
           WHERE u.account_id = v_account_id AND u.day = v_day;
        END IF;
        IF v_used + v_held + v_request.amount_picos > v_request.daily_limit_picos THEN
          outcome := 'account_daily_limit';
          used_picos := v_used;
          limit_picos := v_request.daily_limit_picos;
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;
      IF v_request.key_limit_picos > 0 THEN
        SELECT COALESCE(SUM(u.cost_picos), 0) INTO used_picos FROM usage_day u
         WHERE u.account_id = v_account_id AND u.day = v_request.day
           AND u.key_id = v_request.key_id;
        SELECT COALESCE(SUM(part.amount_picos), 0) INTO held_picos FROM (
          SELECT h.amount_picos FROM hold h
           WHERE h.account_id = v_account_id AND h.key_id = v_request.key_id
          UNION ALL
          SELECT p_amounts_picos[i] FROM unnest(v_new) i
           WHERE p_account_ids[i] = v_account_id AND p_key_ids[i] = v_request.key_id
        ) part;
        IF used_picos + held_picos + v_request.amount_picos > v_request.key_limit_picos THEN
          outcome := 'key_daily_limit';
          limit_picos := v_request.key_limit_picos;
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;
      v_new := array_append(v_new, place);
      v_held := v_held + v_request.amount_picos;
      v_helds[v_count] := v_held;
    END IF;

    IF rpm > 0 THEN
      v_admitted[v_count] := v_admitted[v_count] + 1;
      counted := counted + 1;
      v_oldest := COALESCE(v_oldest, v_moment);
    END IF;
    outcome := 'hold';
    amount_picos := v_request.amount_picos;
    oldest_age_ms := v_moment - v_oldest;
    RETURN NEXT;
  END LOOP;

  INSERT INTO hold
  SELECT p_account_ids[i], p_exchange_ids[i], p_key_ids[i], p_amounts_picos[i], p_boot, v_now
    FROM unnest(v_new) i;
  UPDATE account a SET held_picos = v_helds[array_position(v_account_ids, a.id)]
   WHERE a.id = ANY (v_account_ids) AND v_new <> '{}';
  IF 0 < ANY (v_admitted) THEN
    INSERT INTO request_window
    SELECT c.account_id, c.moment, c.last + 1, c.last + c.admitted
      FROM unnest(v_account_ids, v_moments, v_lasts, v_admitted) c (account_id, moment, last, admitted)
     WHERE c.admitted > 0
    ON CONFLICT (account_id, at_ms) DO UPDATE SET last_number = EXCLUDED.last_number;
  END IF;
END $$;

-- Books a batch of ended exchanges: exchange rows, charges, figures, balances, and their holds freed,
-- one statement and one commit. An exchange is booked once however often it is handed in: its row
-- decides, then its entry, and money moves only together with both.
CREATE FUNCTION settle_exchanges(
  p_account_ids TEXT[], -- of the records; NULL = their rows are locked already
  p_records JSON -- as rows of table exchange, with the figures' day and tokens
) RETURNS VOID
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  -- As above.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  IF p_account_ids IS NOT NULL THEN
    PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids) ORDER BY a.id FOR NO KEY UPDATE;
  END IF;
  WITH record AS (
    SELECT * FROM json_to_recordset(p_records) AS r (
      account_id TEXT, exchange_id TEXT, key_id TEXT, vendor TEXT, model TEXT, operation TEXT,
      is_stream INTEGER, channel TEXT, started_at_ms BIGINT, ended_at_ms BIGINT, ending TEXT,
      status INTEGER, attempt_count INTEGER, amount_picos BIGINT, usage TEXT, marks TEXT,
      price_lines TEXT, vendor_request_id TEXT, operator_cost_picos BIGINT,
      day TEXT, input_tokens BIGINT, output_tokens BIGINT, cache_tokens BIGINT)
  ), recorded AS (
    INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream,
      channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
      marks, price_lines, vendor_request_id, operator_cost_picos)
    SELECT account_id, exchange_id, key_id, vendor, model, operation, is_stream,
      channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
      marks, price_lines, vendor_request_id, operator_cost_picos FROM record
    ON CONFLICT (account_id, exchange_id) DO NOTHING
    RETURNING account_id, exchange_id, amount_picos, ended_at_ms
  ), charge AS (
    INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
    SELECT account_id, 'charge', exchange_id, -amount_picos, ended_at_ms
      FROM recorded WHERE amount_picos > 0
    ON CONFLICT (account_id, reference) DO NOTHING
    RETURNING account_id, reference, amount_picos
  ), booked AS (
    SELECT r.* FROM record r
      JOIN charge c ON c.account_id = r.account_id AND c.reference = r.exchange_id
  ), days AS (
    INSERT INTO usage_day AS u (account_id, day, key_id, model,
      requests, input_tokens, output_tokens, cache_tokens, cost_picos)
    SELECT account_id, day, key_id, model,
      COUNT(*), SUM(input_tokens), SUM(output_tokens), SUM(cache_tokens), SUM(amount_picos)
    FROM booked GROUP BY 1, 2, 3, 4
    ON CONFLICT (account_id, day, key_id, model) DO UPDATE SET
      requests = u.requests + EXCLUDED.requests,
      input_tokens = u.input_tokens + EXCLUDED.input_tokens,
      output_tokens = u.output_tokens + EXCLUDED.output_tokens,
      cache_tokens = u.cache_tokens + EXCLUDED.cache_tokens,
      cost_picos = u.cost_picos + EXCLUDED.cost_picos
  ), months AS (
    INSERT INTO usage_month AS u (account_id, month, model,
      requests, input_tokens, output_tokens, cache_tokens, cost_picos)
    SELECT account_id, period.month, model,
      COUNT(*), SUM(input_tokens), SUM(output_tokens), SUM(cache_tokens), SUM(amount_picos)
    FROM booked CROSS JOIN LATERAL (VALUES (left(day, 7)), ('total')) period (month)
    GROUP BY 1, 2, 3
    ON CONFLICT (account_id, month, model) DO UPDATE SET
      requests = u.requests + EXCLUDED.requests,
      input_tokens = u.input_tokens + EXCLUDED.input_tokens,
      output_tokens = u.output_tokens + EXCLUDED.output_tokens,
      cache_tokens = u.cache_tokens + EXCLUDED.cache_tokens,
      cost_picos = u.cost_picos + EXCLUDED.cost_picos
  ), freed AS (
    DELETE FROM hold h USING record r
    WHERE h.account_id = r.account_id AND h.exchange_id = r.exchange_id
    RETURNING h.account_id, h.amount_picos
  ), change AS (
    SELECT account_id, SUM(balance_picos)::bigint AS balance_picos, SUM(held_picos)::bigint AS held_picos
    FROM (
      SELECT account_id, amount_picos AS balance_picos, 0 AS held_picos FROM charge
      UNION ALL SELECT account_id, 0, amount_picos FROM freed
    ) part GROUP BY account_id
  )
  UPDATE account a
     SET balance_picos = a.balance_picos + c.balance_picos, held_picos = a.held_picos - c.held_picos
    FROM change c WHERE a.id = c.account_id;
END $$;

-- Frees holds without a charge; those that are gone already do not matter.
CREATE FUNCTION release_holds(p_account_ids TEXT[], p_exchange_ids TEXT[]) RETURNS VOID
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids) ORDER BY a.id FOR NO KEY UPDATE;
  WITH freed AS (
    DELETE FROM hold h USING unnest(p_account_ids, p_exchange_ids) AS r (account_id, exchange_id)
    WHERE h.account_id = r.account_id AND h.exchange_id = r.exchange_id
    RETURNING h.account_id, h.amount_picos
  )
  UPDATE account a SET held_picos = a.held_picos - f.held_picos
    FROM (SELECT account_id, SUM(amount_picos)::bigint AS held_picos FROM freed GROUP BY 1) f
   WHERE a.id = f.account_id;
END $$;

-- Frees and records the holds of every boot whose lease has passed, but for the caller's own, and
-- forgets such boots. Any number of nodes may do so at once. Returns how many holds it has freed.
CREATE FUNCTION expire_holds(p_now_ms BIGINT, p_own_boot BIGINT) RETURNS BIGINT
LANGUAGE plpgsql AS $$
DECLARE
  v_now BIGINT := store_time(p_now_ms);
  v_boots BIGINT[];
  v_expired BIGINT;
BEGIN
  SELECT array_agg(DISTINCT h.boot) INTO v_boots FROM hold h
   WHERE h.boot <> p_own_boot
     AND NOT EXISTS (SELECT 1 FROM node n WHERE n.boot = h.boot AND n.lease_until_ms > v_now);
  DELETE FROM node n WHERE n.lease_until_ms <= v_now AND n.boot <> p_own_boot;
  IF v_boots IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM 1 FROM account a WHERE a.id IN (SELECT h.account_id FROM hold h WHERE h.boot = ANY (v_boots))
    ORDER BY a.id FOR NO KEY UPDATE;
  WITH gone AS (
    -- Asked once more: its node may have come back while the locks were waited for.
    DELETE FROM hold h WHERE h.boot = ANY (v_boots)
      AND NOT EXISTS (SELECT 1 FROM node n WHERE n.boot = h.boot AND n.lease_until_ms > v_now)
    RETURNING *
  ), recorded AS (
    INSERT INTO expired_hold
    SELECT account_id, exchange_id, key_id, amount_picos, boot, placed_at_ms, v_now FROM gone
    ON CONFLICT (account_id, exchange_id) DO NOTHING
  ), freed AS (
    UPDATE account a SET held_picos = a.held_picos - g.held_picos
      FROM (SELECT account_id, SUM(amount_picos)::bigint AS held_picos FROM gone GROUP BY 1) g
     WHERE a.id = g.account_id
  )
  SELECT COUNT(*) INTO v_expired FROM gone;
  RETURN v_expired;
END $$;

-- The one copy of another store that this store was filled from, if any, and how far it has come. No
-- gateway and no other command uses the store before the copy is finished.
CREATE TABLE store_copy (
  source TEXT COLLATE "C" PRIMARY KEY,
  state_of_source TEXT COLLATE "C" NOT NULL, -- JSON; a source that has moved on is not copied on
  started_at_ms BIGINT NOT NULL,
  finished_at_ms BIGINT
);
CREATE TABLE store_copy_progress (
  table_name TEXT COLLATE "C" PRIMARY KEY,
  last_key TEXT COLLATE "C" NOT NULL, -- JSON: the primary key of the last row copied
  row_count BIGINT NOT NULL
);
