-- Books a batch of ended exchanges, all but the change of their accounts, whose rows are locked already:
-- exchange rows, charges, sums, and their holds freed. Returns what it has freed of each account. It raises
-- an error where one has no hold any more, or was booked before; settle_alone does it then. So nothing is
-- looked for that is hardly ever there.
--
-- Here and in the other functions: with a new plan for each batch the server would plan for longer than
-- it works, and while tables are small it would take plans that read them as a whole, and keep them.
CREATE OR REPLACE FUNCTION settle_exchanges(
  p_account_ids TEXT[],
  p_hold_count INTEGER, -- so many of the exchanges have a hold
  -- Rows of the tables of these names, each parameter as the text of an array of rows: the exchanges, and
  -- what they add to the sums. A state of an answer stands there once.
  p_exchange TEXT,
  p_report_day TEXT,
  p_usage_month TEXT,
  p_usage_key_month TEXT,
  p_token_minute TEXT,
  p_answer_state TEXT -- NULL = none
) RETURNS BIGINT[]
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
  v_exchanges exchange[] := p_exchange;
  v_reports report_day[] := p_report_day;
  v_months usage_month[] := p_usage_month;
  v_key_months usage_key_month[] := p_usage_key_month;
  v_tokens token_minute[] := p_token_minute;
  v_freed BIGINT[] := array_fill(0::bigint, ARRAY[cardinality(p_account_ids)]);
  v_hold RECORD;
  v_account INTEGER;
  v_count INTEGER := 0;
BEGIN
  FOR v_hold IN
    DELETE FROM hold h USING unnest(v_exchanges) r
     WHERE h.account_id = r.account_id AND h.exchange_id = r.exchange_id
    RETURNING h.account_id, h.amount_picos
  LOOP
    v_account := array_position(p_account_ids, v_hold.account_id);
    v_freed[v_account] := v_freed[v_account] + v_hold.amount_picos;
    v_count := v_count + 1;
  END LOOP;
  IF v_count <> p_hold_count THEN
    RAISE EXCEPTION 'of % exchanges that have a hold, % were found', p_hold_count, v_count;
  END IF;

  INSERT INTO exchange SELECT * FROM unnest(v_exchanges);
  PERFORM nextval('recorded_requests');
  INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
  SELECT r.account_id, 'charge', r.exchange_id, -r.amount_picos, r.ended_at_ms
    FROM unnest(v_exchanges) r WHERE r.amount_picos > 0;

  IF EXISTS (SELECT 1 FROM unnest(v_reports) r WHERE r.label <> '') THEN
    v_reports := count_labels(p_report_day);
  END IF;
  UPDATE report_day u SET
      requests = u.requests + r.requests,
      charged_requests = u.charged_requests + r.charged_requests,
      errors = u.errors + r.errors,
      failovers = u.failovers + r.failovers,
      known_cost_requests = u.known_cost_requests + r.known_cost_requests,
      input_tokens = u.input_tokens + r.input_tokens,
      output_tokens = u.output_tokens + r.output_tokens,
      cache_read_tokens = u.cache_read_tokens + r.cache_read_tokens,
      cache_write_tokens = u.cache_write_tokens + r.cache_write_tokens,
      prompt_tokens = u.prompt_tokens + r.prompt_tokens,
      first_event_le_100 = u.first_event_le_100 + r.first_event_le_100,
      first_event_le_200 = u.first_event_le_200 + r.first_event_le_200,
      first_event_le_300 = u.first_event_le_300 + r.first_event_le_300,
      first_event_le_500 = u.first_event_le_500 + r.first_event_le_500,
      first_event_le_750 = u.first_event_le_750 + r.first_event_le_750,
      first_event_le_1000 = u.first_event_le_1000 + r.first_event_le_1000,
      first_event_le_1500 = u.first_event_le_1500 + r.first_event_le_1500,
      first_event_le_2000 = u.first_event_le_2000 + r.first_event_le_2000,
      first_event_le_3000 = u.first_event_le_3000 + r.first_event_le_3000,
      first_event_le_5000 = u.first_event_le_5000 + r.first_event_le_5000,
      first_event_le_7500 = u.first_event_le_7500 + r.first_event_le_7500,
      first_event_le_10000 = u.first_event_le_10000 + r.first_event_le_10000,
      first_event_le_20000 = u.first_event_le_20000 + r.first_event_le_20000,
      first_event_le_60000 = u.first_event_le_60000 + r.first_event_le_60000,
      first_event_above = u.first_event_above + r.first_event_above,
      revenue_picos = u.revenue_picos + r.revenue_picos,
      own_cost_picos = u.own_cost_picos + r.own_cost_picos,
      lost_cost_picos = u.lost_cost_picos + r.lost_cost_picos,
      unknown_cost_revenue_picos = u.unknown_cost_revenue_picos + r.unknown_cost_revenue_picos
    FROM unnest(v_reports) r
   WHERE u.day = r.day AND u.model = r.model AND u.channel = r.channel
     AND u.account_id = r.account_id AND u.key_id = r.key_id AND u.label = r.label;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count < cardinality(v_reports) THEN
    INSERT INTO report_day SELECT * FROM unnest(v_reports) ON CONFLICT DO NOTHING;
  END IF;
  UPDATE usage_month u SET requests = u.requests + r.requests, input_tokens = u.input_tokens + r.input_tokens,
      output_tokens = u.output_tokens + r.output_tokens, cache_tokens = u.cache_tokens + r.cache_tokens,
      cost_picos = u.cost_picos + r.cost_picos
    FROM unnest(v_months) r WHERE u.account_id = r.account_id AND u.month = r.month AND u.model = r.model;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count < cardinality(v_months) THEN
    INSERT INTO usage_month SELECT * FROM unnest(v_months) ON CONFLICT DO NOTHING;
  END IF;
  UPDATE usage_key_month u SET cost_picos = u.cost_picos + r.cost_picos
    FROM unnest(v_key_months) r
   WHERE u.account_id = r.account_id AND u.key_id = r.key_id AND u.month = r.month;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count < cardinality(v_key_months) THEN
    INSERT INTO usage_key_month SELECT * FROM unnest(v_key_months) ON CONFLICT DO NOTHING;
  END IF;

  INSERT INTO token_minute AS t
  SELECT * FROM unnest(v_tokens) r
   WHERE EXISTS (SELECT 1 FROM account a WHERE a.id = r.account_id AND a.tokens_per_minute > 0)
      OR EXISTS (SELECT 1 FROM key k WHERE k.id = r.key_id AND k.tokens_per_minute > 0)
  ON CONFLICT (account_id, second, key_id) DO UPDATE SET tokens = t.tokens + EXCLUDED.tokens;
  IF FOUND THEN
    DELETE FROM token_minute t
    USING (SELECT r.account_id, MIN(r.second) AS second FROM unnest(v_tokens) r GROUP BY 1) w
    WHERE t.account_id = w.account_id AND t.second < w.second - 120;
  END IF;

  IF p_answer_state IS NOT NULL THEN
    INSERT INTO answer_state SELECT * FROM unnest(p_answer_state::answer_state[])
    ON CONFLICT (vendor, id, kind, account_id) DO UPDATE SET
      channel = excluded.channel, model = excluded.model, response_id = excluded.response_id,
      input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
      expires_at_ms = excluded.expires_at_ms;
  END IF;
  RETURN v_freed;
END $$;
