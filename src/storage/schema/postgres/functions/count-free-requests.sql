-- Counts a batch of free requests, each toward `p_factor` times the requests per minute of its account and
-- of its key, or refuses it. A row for each request whose account exists.
CREATE OR REPLACE FUNCTION count_free_requests(
  p_now_ms BIGINT,
  p_account_ids TEXT[],
  p_key_ids TEXT[],
  p_key_rpms INTEGER[],
  p_factor INTEGER
) RETURNS TABLE (
  place INTEGER,
  outcome TEXT,
  amount_picos BIGINT,
  retry_after_ms BIGINT,
  rpm INTEGER, -- times the factor
  window_minutes INTEGER
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_now BIGINT;
  v_request RECORD;
  v_limit BIGINT;
  v_window_ms BIGINT;
  v_moment BIGINT;
  v_last BIGINT;
  v_first BIGINT; -- the number of the first request in the window
  v_key_limit BIGINT;
  v_key_moment BIGINT;
  v_key_last BIGINT;
  v_key_first BIGINT;
BEGIN
  PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids) ORDER BY a.id FOR NO KEY UPDATE;
  v_now := store_time(p_now_ms);
  amount_picos := 0;
  FOR v_request IN
    SELECT r.place, r.key_id, r.key_rpm, a.id, a.rpm, a.window_minutes
      FROM unnest(p_account_ids, p_key_ids, p_key_rpms) WITH ORDINALITY
        AS r (account_id, key_id, key_rpm, place)
      JOIN account a ON a.id = r.account_id
     ORDER BY r.place
  LOOP
    place := v_request.place;
    outcome := 'hold';
    retry_after_ms := NULL;
    rpm := v_request.rpm * p_factor;
    window_minutes := v_request.window_minutes;
    v_limit := rpm::bigint * window_minutes;
    v_key_limit := v_request.key_rpm::bigint * p_factor;
    IF v_limit > 0 THEN
      v_window_ms := window_minutes * 60000::bigint;
      v_moment := NULL;
      v_last := NULL;
      v_first := NULL;
      SELECT w.at_ms, w.last_number INTO v_moment, v_last FROM token_count_window w
       WHERE w.account_id = v_request.id ORDER BY w.at_ms DESC LIMIT 1;
      v_moment := GREATEST(v_now, v_moment);
      v_last := COALESCE(v_last, 0);
      SELECT w.first_number INTO v_first FROM token_count_window w
       WHERE w.account_id = v_request.id AND w.at_ms > v_moment - v_window_ms
       ORDER BY w.at_ms LIMIT 1;
      IF v_last - v_first + 1 >= v_limit THEN
        outcome := 'account_rpm';
        SELECT w.at_ms - v_moment + v_window_ms INTO retry_after_ms FROM token_count_window w
         WHERE w.account_id = v_request.id AND w.at_ms > v_moment - v_window_ms
           AND w.last_number > v_last - v_limit
         ORDER BY w.at_ms LIMIT 1;
      END IF;
    END IF;
    IF v_key_limit > 0 AND outcome = 'hold' THEN
      v_key_moment := NULL;
      v_key_last := NULL;
      v_key_first := NULL;
      SELECT w.at_ms, w.last_number INTO v_key_moment, v_key_last FROM key_request_window w
       WHERE w.account_id = v_request.id AND w.key_id = v_request.key_id
         AND w.allowance = 'free_requests' ORDER BY w.at_ms DESC LIMIT 1;
      v_key_moment := GREATEST(v_now, v_key_moment);
      v_key_last := COALESCE(v_key_last, 0);
      SELECT w.first_number INTO v_key_first FROM key_request_window w
       WHERE w.account_id = v_request.id AND w.key_id = v_request.key_id
         AND w.allowance = 'free_requests' AND w.at_ms > v_key_moment - 60000
       ORDER BY w.at_ms LIMIT 1;
      IF v_key_last - v_key_first + 1 >= v_key_limit THEN
        outcome := 'key_rpm';
        SELECT w.at_ms - v_key_moment + 60000 INTO retry_after_ms FROM key_request_window w
         WHERE w.account_id = v_request.id AND w.key_id = v_request.key_id
           AND w.allowance = 'free_requests' AND w.at_ms > v_key_moment - 60000
           AND w.last_number > v_key_last - v_key_limit
         ORDER BY w.at_ms LIMIT 1;
      END IF;
    END IF;
    IF outcome = 'hold' AND v_limit > 0 THEN
      INSERT INTO token_count_window VALUES (v_request.id, v_moment, v_last + 1, v_last + 1)
      ON CONFLICT (account_id, at_ms) DO UPDATE SET last_number = EXCLUDED.last_number;
    END IF;
    IF outcome = 'hold' AND v_key_limit > 0 THEN
      INSERT INTO key_request_window
      VALUES (v_request.id, v_request.key_id, 'free_requests', v_key_moment, v_key_last + 1, v_key_last + 1)
      ON CONFLICT (account_id, key_id, allowance, at_ms)
        DO UPDATE SET last_number = EXCLUDED.last_number;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
