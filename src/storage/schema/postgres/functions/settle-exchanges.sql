-- Books a batch of ended exchanges: exchange rows, charges, sums, balances, and their holds freed,
-- one statement and one commit. An exchange is booked once however often it is handed in: its row
-- decides, then its entry, and money moves only together with both.
--
-- Here and in the other functions: with a new plan for each batch the server would plan for longer than
-- it works, and while tables are small it would take plans that read them as a whole, and keep them.
CREATE OR REPLACE FUNCTION settle_exchanges(
  p_account_ids TEXT[], -- of the records; NULL = their rows are locked already
  p_records JSON -- as rows of table exchange, with the day and tokens of the sums
) RETURNS VOID
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_counted TEXT[]; -- exchanges whose tokens count toward a limit per minute
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
      is_own_cost_known INTEGER, waived_picos BIGINT, asked_model TEXT, day TEXT, input_tokens BIGINT, output_tokens BIGINT,
      cache_tokens BIGINT, cache_write_tokens BIGINT, prompt_tokens BIGINT, first_event_bucket INTEGER)
  ), recorded AS (
    INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream,
      channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
      marks, price_lines, vendor_request_id, operator_cost_picos, first_event_ms, attempts, code,
      client, address, own_cost_picos, is_own_cost_known, waived_picos, asked_model)
    SELECT account_id, exchange_id, key_id, vendor, model, operation, is_stream,
      channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
      marks, price_lines, vendor_request_id, operator_cost_picos, first_event_ms, attempts, code,
      client, address, own_cost_picos, is_own_cost_known, waived_picos, asked_model FROM record
    ON CONFLICT (account_id, exchange_id) DO NOTHING
    RETURNING account_id, exchange_id, key_id, amount_picos, ended_at_ms
  ), charge AS (
    INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
    SELECT account_id, 'charge', exchange_id, -amount_picos, ended_at_ms
      FROM recorded WHERE amount_picos > 0
    ON CONFLICT (account_id, reference) DO NOTHING
    RETURNING account_id, reference, amount_picos
  ), sums AS ( -- in the order of the columns of the next part
    SELECT r.day, r.account_id, r.key_id, r.model, COALESCE(r.channel, '') AS channel,
      COUNT(*) AS requests,
      COUNT(c.reference) AS charged_requests,
      COUNT(*) FILTER (WHERE r.ending NOT IN ('completed', 'client_left')) AS errors,
      SUM(GREATEST(r.attempt_count - 1, 0)) AS failovers,
      SUM(r.is_own_cost_known) AS known_cost_requests,
      SUM(r.input_tokens) AS input_tokens, SUM(r.output_tokens) AS output_tokens,
      SUM(r.cache_tokens - r.cache_write_tokens) AS cache_read_tokens,
      SUM(r.cache_write_tokens) AS cache_write_tokens,
      SUM(r.prompt_tokens) AS prompt_tokens,
      COUNT(*) FILTER (WHERE first_event_bucket = 0) AS first_event_le_100,
      COUNT(*) FILTER (WHERE first_event_bucket = 1) AS first_event_le_200,
      COUNT(*) FILTER (WHERE first_event_bucket = 2) AS first_event_le_300,
      COUNT(*) FILTER (WHERE first_event_bucket = 3) AS first_event_le_500,
      COUNT(*) FILTER (WHERE first_event_bucket = 4) AS first_event_le_750,
      COUNT(*) FILTER (WHERE first_event_bucket = 5) AS first_event_le_1000,
      COUNT(*) FILTER (WHERE first_event_bucket = 6) AS first_event_le_1500,
      COUNT(*) FILTER (WHERE first_event_bucket = 7) AS first_event_le_2000,
      COUNT(*) FILTER (WHERE first_event_bucket = 8) AS first_event_le_3000,
      COUNT(*) FILTER (WHERE first_event_bucket = 9) AS first_event_le_5000,
      COUNT(*) FILTER (WHERE first_event_bucket = 10) AS first_event_le_7500,
      COUNT(*) FILTER (WHERE first_event_bucket = 11) AS first_event_le_10000,
      COUNT(*) FILTER (WHERE first_event_bucket = 12) AS first_event_le_20000,
      COUNT(*) FILTER (WHERE first_event_bucket = 13) AS first_event_le_60000,
      COUNT(*) FILTER (WHERE first_event_bucket = 14) AS first_event_above,
      COALESCE(-SUM(c.amount_picos), 0) AS revenue_picos, SUM(r.own_cost_picos) AS own_cost_picos,
      SUM(r.operator_cost_picos) AS lost_cost_picos, 0 AS refunded_picos,
      COALESCE(-SUM(c.amount_picos) FILTER (WHERE r.is_own_cost_known = 0), 0)
        AS unknown_cost_revenue_picos
    FROM recorded d
    JOIN record r ON r.account_id = d.account_id AND r.exchange_id = d.exchange_id
    LEFT JOIN charge c ON c.account_id = d.account_id AND c.reference = d.exchange_id
    GROUP BY 1, 2, 3, 4, 5
  ), reports AS (
    INSERT INTO report_day AS u (day, account_id, key_id, model, channel,
      requests, charged_requests, errors, failovers, known_cost_requests, input_tokens,
      output_tokens, cache_read_tokens, cache_write_tokens, prompt_tokens, first_event_le_100,
      first_event_le_200, first_event_le_300, first_event_le_500, first_event_le_750,
      first_event_le_1000, first_event_le_1500, first_event_le_2000, first_event_le_3000,
      first_event_le_5000, first_event_le_7500, first_event_le_10000, first_event_le_20000,
      first_event_le_60000, first_event_above, revenue_picos, own_cost_picos, lost_cost_picos,
      refunded_picos, unknown_cost_revenue_picos)
    SELECT * FROM sums
    ON CONFLICT (day, account_id, key_id, model, channel) DO UPDATE SET
      requests = u.requests + EXCLUDED.requests,
      charged_requests = u.charged_requests + EXCLUDED.charged_requests,
      errors = u.errors + EXCLUDED.errors, failovers = u.failovers + EXCLUDED.failovers,
      known_cost_requests = u.known_cost_requests + EXCLUDED.known_cost_requests,
      input_tokens = u.input_tokens + EXCLUDED.input_tokens,
      output_tokens = u.output_tokens + EXCLUDED.output_tokens,
      cache_read_tokens = u.cache_read_tokens + EXCLUDED.cache_read_tokens,
      cache_write_tokens = u.cache_write_tokens + EXCLUDED.cache_write_tokens,
      prompt_tokens = u.prompt_tokens + EXCLUDED.prompt_tokens,
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
      lost_cost_picos = u.lost_cost_picos + EXCLUDED.lost_cost_picos,
      unknown_cost_revenue_picos = u.unknown_cost_revenue_picos + EXCLUDED.unknown_cost_revenue_picos
  ), months AS (
    INSERT INTO usage_month AS u (account_id, month, model,
      requests, input_tokens, output_tokens, cache_tokens, cost_picos)
    SELECT account_id, period.month, model, SUM(charged_requests), SUM(input_tokens),
      SUM(output_tokens), SUM(cache_read_tokens + cache_write_tokens), SUM(revenue_picos)
    FROM sums CROSS JOIN LATERAL (VALUES (left(day, 7)), ('total')) period (month)
    WHERE charged_requests + input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0
    GROUP BY 1, 2, 3
    ON CONFLICT (account_id, month, model) DO UPDATE SET
      requests = u.requests + EXCLUDED.requests,
      input_tokens = u.input_tokens + EXCLUDED.input_tokens,
      output_tokens = u.output_tokens + EXCLUDED.output_tokens,
      cache_tokens = u.cache_tokens + EXCLUDED.cache_tokens,
      cost_picos = u.cost_picos + EXCLUDED.cost_picos
  ), key_months AS (
    INSERT INTO usage_key_month AS u (account_id, key_id, month, cost_picos)
    SELECT account_id, key_id, period.month, SUM(revenue_picos)
    FROM sums CROSS JOIN LATERAL (VALUES (left(day, 7)), ('total')) period (month)
    WHERE revenue_picos > 0
    GROUP BY 1, 2, 3
    ON CONFLICT (account_id, key_id, month) DO UPDATE SET
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
  ), balances AS (
    UPDATE account a
       SET balance_picos = a.balance_picos + c.balance_picos, held_picos = a.held_picos - c.held_picos
      FROM change c WHERE a.id = c.account_id
  )
  SELECT array_agg(d.exchange_id) INTO v_counted FROM recorded d
   WHERE EXISTS (SELECT 1 FROM account a WHERE a.id = d.account_id AND a.tokens_per_minute > 0)
      OR EXISTS (SELECT 1 FROM key k WHERE k.id = d.key_id AND k.tokens_per_minute > 0);
  -- Apart, because few have such a limit, and the server prepares each part of a statement at every call.
  IF v_counted IS NOT NULL THEN
    WITH windows AS (
      INSERT INTO token_minute AS t (account_id, second, key_id, tokens)
      SELECT account_id, ended_at_ms / 1000, key_id, SUM(input_tokens + output_tokens)
        FROM json_to_recordset(p_records) AS r (
          account_id TEXT, exchange_id TEXT, key_id TEXT, ended_at_ms BIGINT, input_tokens BIGINT,
          output_tokens BIGINT)
       WHERE exchange_id = ANY (v_counted) AND input_tokens + output_tokens > 0
       GROUP BY 1, 2, 3
      ON CONFLICT (account_id, second, key_id) DO UPDATE SET tokens = t.tokens + EXCLUDED.tokens
      RETURNING t.account_id, t.second
    )
    DELETE FROM token_minute t
    USING (SELECT account_id, MIN(second) AS second FROM windows GROUP BY 1) w
    WHERE t.account_id = w.account_id AND t.second < w.second - 120;
  END IF;
END $$;
