-- What settling a request records besides its charge: more facts of the exchange, the figures of reports,
-- what each key has used, and the tokens of the last minute where a limit counts them.

-- Tokens per minute that the account or the key may use; 0 = no limit. The table of accounts is locked
-- first: a gateway of an earlier version that settles meanwhile goes on with the new settle_exchanges.
ALTER TABLE account ADD COLUMN tokens_per_minute BIGINT NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0);
ALTER TABLE key ADD COLUMN tokens_per_minute BIGINT NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0);
DROP TRIGGER account_updated ON account;
CREATE TRIGGER account_updated
AFTER UPDATE OF name, status, daily_limit_picos, rpm, window_minutes, price_multiplier_ppm, tokens_per_minute
ON account FOR EACH STATEMENT EXECUTE FUNCTION raise_revision('accounts');

ALTER TABLE exchange ADD COLUMN first_event_ms BIGINT; -- from its start to the first event or byte delivered
ALTER TABLE exchange ADD COLUMN attempts TEXT COLLATE "C"; -- JSON array, see ledger/ledger.ts; NULL = recorded before this
ALTER TABLE exchange ADD COLUMN code TEXT COLLATE "C"; -- where the answer was an error of the gateway
ALTER TABLE exchange ADD COLUMN client TEXT COLLATE "C" NOT NULL DEFAULT ''; -- family of its user agent; '' = unknown
ALTER TABLE exchange ADD COLUMN address TEXT COLLATE "C" NOT NULL DEFAULT ''; -- as the setting record_addresses says
-- What the answer cost the operator, by the prices of its channel.
ALTER TABLE exchange ADD COLUMN own_cost_picos BIGINT NOT NULL DEFAULT 0 CHECK (own_cost_picos >= 0);
ALTER TABLE exchange ADD COLUMN is_own_cost_known INTEGER NOT NULL DEFAULT 0;

-- Figures of reports, kept for ever. A request belongs to the UTC day on which it ended. The columns
-- first_event_… count requests by their time to the first event: up to that many milliseconds, and more
-- than the column before.
CREATE TABLE report_day (
  day TEXT COLLATE "C" NOT NULL, -- YYYY-MM-DD, UTC
  account_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL, -- '' = none answered, or no longer known
  requests BIGINT NOT NULL,
  charged_requests BIGINT NOT NULL,
  errors BIGINT NOT NULL, -- ended neither completed nor because the client left
  failovers BIGINT NOT NULL, -- attempts after the first
  known_cost_requests BIGINT NOT NULL, -- requests whose own cost is known
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cache_read_tokens BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL,
  first_event_le_100 BIGINT NOT NULL,
  first_event_le_200 BIGINT NOT NULL,
  first_event_le_300 BIGINT NOT NULL,
  first_event_le_500 BIGINT NOT NULL,
  first_event_le_750 BIGINT NOT NULL,
  first_event_le_1000 BIGINT NOT NULL,
  first_event_le_1500 BIGINT NOT NULL,
  first_event_le_2000 BIGINT NOT NULL,
  first_event_le_3000 BIGINT NOT NULL,
  first_event_le_5000 BIGINT NOT NULL,
  first_event_le_7500 BIGINT NOT NULL,
  first_event_le_10000 BIGINT NOT NULL,
  first_event_le_20000 BIGINT NOT NULL,
  first_event_le_60000 BIGINT NOT NULL,
  first_event_above BIGINT NOT NULL,
  revenue_picos BIGINT NOT NULL, -- charges; refunds are not subtracted
  own_cost_picos BIGINT NOT NULL,
  lost_cost_picos BIGINT NOT NULL, -- estimated cost of what no account pays
  refunded_picos BIGINT NOT NULL, -- of these charges, whenever they were refunded
  PRIMARY KEY (day, account_id, key_id, model, channel)
) WITH (fillfactor = 70); -- most settled requests rewrite a row of it
CREATE INDEX report_day_by_account ON report_day (account_id, day);

-- What each key has used: charges less refunds.
CREATE TABLE usage_key_month (
  account_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  month TEXT COLLATE "C" NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  cost_picos BIGINT NOT NULL,
  PRIMARY KEY (account_id, key_id, month)
) WITH (fillfactor = 50);

-- Input and output tokens of requests by the second in which they ended, of accounts and keys with a
-- limit of tokens per minute. Rows older than two minutes are deleted.
CREATE TABLE token_minute (
  account_id TEXT COLLATE "C" NOT NULL,
  second BIGINT NOT NULL, -- since 1970
  key_id TEXT COLLATE "C" NOT NULL,
  tokens BIGINT NOT NULL,
  PRIMARY KEY (account_id, second, key_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- The cache tokens of a stored usage that were written; the rest of them was read.
CREATE FUNCTION cache_write_tokens(p_usage TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
  SELECT LEAST((p_usage::json #>> '{reported,cacheTokens}')::bigint,
    SUM(COALESCE((part #>> '{counts,cache_write_5m}')::bigint, 0)
      + COALESCE((part #>> '{counts,cache_write_1h}')::bigint, 0)))
    FROM json_array_elements(p_usage::json -> 'parts') part
$$;

INSERT INTO usage_key_month (account_id, key_id, month, cost_picos)
SELECT account_id, key_id, substr(day, 1, 7), SUM(cost_picos) FROM usage_day GROUP BY 1, 2, 3
UNION ALL
SELECT account_id, key_id, 'total', SUM(cost_picos) FROM usage_day GROUP BY 1, 2;

-- Days whose exchanges are kept; the earlier ones are known by account, key and model only.
INSERT INTO report_day
SELECT day, account_id, key_id, model, channel, COUNT(*), COUNT(*) FILTER (WHERE amount_picos > 0),
  COUNT(*) FILTER (WHERE ending NOT IN ('completed', 'client_left')),
  SUM(GREATEST(attempt_count - 1, 0)), 0,
  SUM(input), SUM(output), SUM(cached - written), SUM(written),
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  SUM(amount_picos), 0, SUM(operator_cost_picos), 0
FROM (
  SELECT to_char(to_timestamp(ended_at_ms / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') COLLATE "C" AS day,
    account_id, key_id, model, COALESCE(channel, '') AS channel, amount_picos, ending, attempt_count,
    operator_cost_picos,
    COALESCE((usage::json #>> '{reported,inputTokens}')::bigint, 0) AS input,
    COALESCE((usage::json #>> '{reported,outputTokens}')::bigint, 0) AS output,
    COALESCE((usage::json #>> '{reported,cacheTokens}')::bigint, 0) AS cached,
    COALESCE(cache_write_tokens(usage), 0) AS written
    FROM exchange
   WHERE ended_at_ms >= (SELECT COALESCE(MAX(cut_ms), 0) FROM exchange_cut)
) exchanged
GROUP BY day, account_id, key_id, model, channel;

INSERT INTO report_day
SELECT day, account_id, key_id, model, '', requests, requests, 0, 0, 0,
  input_tokens, output_tokens, cache_tokens, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  cost_picos, 0, 0, 0
FROM usage_day
WHERE day < (SELECT to_char(to_timestamp(COALESCE(MAX(cut_ms), 0) / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
               FROM exchange_cut);

-- Settles as before, and writes the new figures with the charge. Gateways of an earlier version hand in
-- records without the new fields, which count as unknown.
CREATE OR REPLACE FUNCTION settle_exchanges(
  p_account_ids TEXT[], -- of the records; NULL = their rows are locked already
  p_records JSON -- as rows of table exchange, with the figures' day and tokens
) RETURNS VOID
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  -- Gateways look at this once for each connection; a reload may have changed it since.
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
      price_lines TEXT, vendor_request_id TEXT, operator_cost_picos BIGINT, first_event_ms BIGINT,
      attempts TEXT, code TEXT, client TEXT, address TEXT, own_cost_picos BIGINT,
      is_own_cost_known INTEGER, day TEXT, input_tokens BIGINT, output_tokens BIGINT,
      cache_tokens BIGINT, cache_write_tokens BIGINT, first_event_bucket INTEGER)
  ), recorded AS (
    INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream,
      channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
      marks, price_lines, vendor_request_id, operator_cost_picos, first_event_ms, attempts, code,
      client, address, own_cost_picos, is_own_cost_known)
    SELECT account_id, exchange_id, key_id, vendor, model, operation, is_stream,
      channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
      marks, price_lines, vendor_request_id, operator_cost_picos, first_event_ms, attempts, code,
      COALESCE(client, ''), COALESCE(address, ''), COALESCE(own_cost_picos, 0),
      COALESCE(is_own_cost_known, 0) FROM record
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
  ), key_months AS (
    INSERT INTO usage_key_month AS u (account_id, key_id, month, cost_picos)
    SELECT account_id, key_id, period.month, SUM(amount_picos)
    FROM booked CROSS JOIN LATERAL (VALUES (left(day, 7)), ('total')) period (month)
    GROUP BY 1, 2, 3
    ON CONFLICT (account_id, key_id, month) DO UPDATE SET
      cost_picos = u.cost_picos + EXCLUDED.cost_picos
  ), reports AS (
    INSERT INTO report_day AS u (day, account_id, key_id, model, channel,
      requests, charged_requests, errors, failovers, known_cost_requests, input_tokens,
      output_tokens, cache_read_tokens, cache_write_tokens, first_event_le_100,
      first_event_le_200, first_event_le_300, first_event_le_500, first_event_le_750,
      first_event_le_1000, first_event_le_1500, first_event_le_2000, first_event_le_3000,
      first_event_le_5000, first_event_le_7500, first_event_le_10000, first_event_le_20000,
      first_event_le_60000, first_event_above, revenue_picos, own_cost_picos, lost_cost_picos,
      refunded_picos)
    SELECT r.day, r.account_id, r.key_id, r.model, COALESCE(r.channel, ''), COUNT(*),
      COUNT(c.reference), COUNT(*) FILTER (WHERE r.ending NOT IN ('completed', 'client_left')),
      SUM(GREATEST(r.attempt_count - 1, 0)), SUM(COALESCE(r.is_own_cost_known, 0)),
      SUM(r.input_tokens), SUM(r.output_tokens),
      SUM(r.cache_tokens - COALESCE(r.cache_write_tokens, cache_write_tokens(r.usage), 0)),
      SUM(COALESCE(r.cache_write_tokens, cache_write_tokens(r.usage), 0)),
      COUNT(*) FILTER (WHERE first_event_bucket = 0),
      COUNT(*) FILTER (WHERE first_event_bucket = 1),
      COUNT(*) FILTER (WHERE first_event_bucket = 2),
      COUNT(*) FILTER (WHERE first_event_bucket = 3),
      COUNT(*) FILTER (WHERE first_event_bucket = 4),
      COUNT(*) FILTER (WHERE first_event_bucket = 5),
      COUNT(*) FILTER (WHERE first_event_bucket = 6),
      COUNT(*) FILTER (WHERE first_event_bucket = 7),
      COUNT(*) FILTER (WHERE first_event_bucket = 8),
      COUNT(*) FILTER (WHERE first_event_bucket = 9),
      COUNT(*) FILTER (WHERE first_event_bucket = 10),
      COUNT(*) FILTER (WHERE first_event_bucket = 11),
      COUNT(*) FILTER (WHERE first_event_bucket = 12),
      COUNT(*) FILTER (WHERE first_event_bucket = 13),
      COUNT(*) FILTER (WHERE first_event_bucket = 14),
      COALESCE(-SUM(c.amount_picos), 0), SUM(COALESCE(r.own_cost_picos, 0)),
      SUM(r.operator_cost_picos), 0
    FROM recorded d
    JOIN record r ON r.account_id = d.account_id AND r.exchange_id = d.exchange_id
    LEFT JOIN charge c ON c.account_id = d.account_id AND c.reference = d.exchange_id
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (day, account_id, key_id, model, channel) DO UPDATE SET
      requests = u.requests + EXCLUDED.requests,
      charged_requests = u.charged_requests + EXCLUDED.charged_requests,
      errors = u.errors + EXCLUDED.errors, failovers = u.failovers + EXCLUDED.failovers,
      known_cost_requests = u.known_cost_requests + EXCLUDED.known_cost_requests,
      input_tokens = u.input_tokens + EXCLUDED.input_tokens,
      output_tokens = u.output_tokens + EXCLUDED.output_tokens,
      cache_read_tokens = u.cache_read_tokens + EXCLUDED.cache_read_tokens,
      cache_write_tokens = u.cache_write_tokens + EXCLUDED.cache_write_tokens,
      first_event_le_100 = u.first_event_le_100 + EXCLUDED.first_event_le_100,
      first_event_le_200 = u.first_event_le_200 + EXCLUDED.first_event_le_200,
      first_event_le_300 = u.first_event_le_300 + EXCLUDED.first_event_le_300,
      first_event_le_500 = u.first_event_le_500 + EXCLUDED.first_event_le_500,
      first_event_le_750 = u.first_event_le_750 + EXCLUDED.first_event_le_750,
      first_event_le_1000 = u.first_event_le_1000 + EXCLUDED.first_event_le_1000,
      first_event_le_1500 = u.first_event_le_1500 + EXCLUDED.first_event_le_1500,
      first_event_le_2000 = u.first_event_le_2000 + EXCLUDED.first_event_le_2000,
      first_event_le_3000 = u.first_event_le_3000 + EXCLUDED.first_event_le_3000,
      first_event_le_5000 = u.first_event_le_5000 + EXCLUDED.first_event_le_5000,
      first_event_le_7500 = u.first_event_le_7500 + EXCLUDED.first_event_le_7500,
      first_event_le_10000 = u.first_event_le_10000 + EXCLUDED.first_event_le_10000,
      first_event_le_20000 = u.first_event_le_20000 + EXCLUDED.first_event_le_20000,
      first_event_le_60000 = u.first_event_le_60000 + EXCLUDED.first_event_le_60000,
      first_event_above = u.first_event_above + EXCLUDED.first_event_above,
      revenue_picos = u.revenue_picos + EXCLUDED.revenue_picos,
      own_cost_picos = u.own_cost_picos + EXCLUDED.own_cost_picos,
      lost_cost_picos = u.lost_cost_picos + EXCLUDED.lost_cost_picos
  ), windows AS (
    INSERT INTO token_minute AS t (account_id, second, key_id, tokens)
    SELECT r.account_id, r.ended_at_ms / 1000, r.key_id, SUM(r.input_tokens + r.output_tokens)
    FROM recorded d
    JOIN record r ON r.account_id = d.account_id AND r.exchange_id = d.exchange_id
    WHERE r.input_tokens + r.output_tokens > 0
      AND (EXISTS (SELECT 1 FROM account a WHERE a.id = r.account_id AND a.tokens_per_minute > 0)
        OR EXISTS (SELECT 1 FROM key k WHERE k.id = r.key_id AND k.tokens_per_minute > 0))
    GROUP BY 1, 2, 3
    ON CONFLICT (account_id, second, key_id) DO UPDATE SET tokens = t.tokens + EXCLUDED.tokens
    RETURNING t.account_id, t.second
  ), pruned AS (
    DELETE FROM token_minute t
    USING (SELECT account_id, MIN(second) AS second FROM windows GROUP BY 1) w
    WHERE t.account_id = w.account_id AND t.second < w.second - 120
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

-- As before; what the answer cost the operator is part of operator_cost_picos where its charge is withheld.
CREATE OR REPLACE FUNCTION settle_holds(
  p_account_ids TEXT[], -- of the records; NULL = their rows are locked already
  p_records JSON -- as for settle_exchanges
) RETURNS INTEGER[]
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_freed RECORD;
  v_account_id TEXT;
  v_left BIGINT; -- balance less holds, after the records of the call that have a hold
  v_withheld INTEGER[] := '{}';
  v_records JSON := p_records;
BEGIN
  IF p_account_ids IS NOT NULL THEN
    PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids) ORDER BY a.id FOR NO KEY UPDATE;
  END IF;
  FOR v_freed IN
    SELECT e.place, r.account_id, r.amount_picos, x.amount_picos AS recorded_picos
      FROM json_array_elements(p_records) WITH ORDINALITY AS e (record, place)
      CROSS JOIN LATERAL json_to_record(e.record)
        AS r (account_id TEXT, exchange_id TEXT, amount_picos BIGINT)
      LEFT JOIN exchange x ON x.account_id = r.account_id AND x.exchange_id = r.exchange_id
     WHERE r.amount_picos > 0 AND NOT EXISTS (
       SELECT 1 FROM hold h WHERE h.account_id = r.account_id AND h.exchange_id = r.exchange_id)
     ORDER BY r.account_id, e.place
  LOOP
    IF v_freed.recorded_picos > 0 THEN
      CONTINUE;
    END IF;
    IF v_account_id IS DISTINCT FROM v_freed.account_id THEN
      v_account_id := v_freed.account_id;
      SELECT a.balance_picos - a.held_picos
           + COALESCE(SUM(h.amount_picos - r.amount_picos), 0) INTO v_left
        FROM account a
        LEFT JOIN (json_to_recordset(p_records)
            AS r (account_id TEXT, exchange_id TEXT, amount_picos BIGINT)
          JOIN hold h ON h.account_id = r.account_id AND h.exchange_id = r.exchange_id)
          ON r.account_id = a.id
       WHERE a.id = v_account_id
       GROUP BY a.id;
    END IF;
    IF v_freed.recorded_picos IS NULL AND v_freed.amount_picos <= v_left THEN
      v_left := v_left - v_freed.amount_picos;
    ELSE
      v_withheld := array_append(v_withheld, v_freed.place::int);
    END IF;
  END LOOP;

  IF v_withheld <> '{}' THEN
    SELECT json_agg(CASE WHEN e.place = ANY (v_withheld)
        THEN e.record::jsonb || jsonb_build_object(
          'ending', 'failed',
          'amount_picos', 0,
          'usage', NULL,
          'marks', 'hold_expired',
          'price_lines', '',
          'own_cost_picos', 0,
          'is_own_cost_known', 0,
          'input_tokens', 0,
          'output_tokens', 0,
          'cache_tokens', 0,
          'cache_write_tokens', 0,
          'operator_cost_picos', (e.record ->> 'operator_cost_picos')::bigint
            + (e.record ->> 'amount_picos')::bigint)
        ELSE e.record::jsonb END) INTO v_records
      FROM json_array_elements(p_records) WITH ORDINALITY AS e (record, place);
  END IF;
  PERFORM settle_exchanges(NULL, v_records);
  RETURN v_withheld;
END $$;
