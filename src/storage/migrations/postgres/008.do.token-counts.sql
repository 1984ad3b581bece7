-- Requests that count tokens have an allowance of their own. Rows as in request_window.
CREATE TABLE token_count_window (
  account_id TEXT COLLATE "C" NOT NULL,
  at_ms BIGINT NOT NULL,
  first_number BIGINT NOT NULL,
  last_number BIGINT NOT NULL,
  PRIMARY KEY (account_id, at_ms)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- Counts a batch of such requests, each toward `p_factor` times its account's requests per minute, or
-- refuses it. A row for each request whose account exists.
CREATE FUNCTION count_token_requests(
  p_now_ms BIGINT,
  p_account_ids TEXT[],
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
BEGIN
  PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids) ORDER BY a.id FOR NO KEY UPDATE;
  v_now := store_time(p_now_ms);
  amount_picos := 0;
  FOR v_request IN
    SELECT r.place, a.id, a.rpm, a.window_minutes
      FROM unnest(p_account_ids) WITH ORDINALITY AS r (account_id, place)
      JOIN account a ON a.id = r.account_id
     ORDER BY r.place
  LOOP
    place := v_request.place;
    outcome := 'hold';
    retry_after_ms := NULL;
    rpm := v_request.rpm * p_factor;
    window_minutes := v_request.window_minutes;
    IF rpm > 0 THEN
      v_limit := rpm::bigint * window_minutes;
      v_window_ms := window_minutes * 60000::bigint;
      SELECT w.at_ms, w.last_number INTO v_moment, v_last FROM token_count_window w
       WHERE w.account_id = v_request.id ORDER BY w.at_ms DESC LIMIT 1;
      v_moment := GREATEST(v_now, v_moment);
      v_last := COALESCE(v_last, 0);
      SELECT w.first_number INTO v_first FROM token_count_window w
       WHERE w.account_id = v_request.id AND w.at_ms > v_moment - v_window_ms
       ORDER BY w.at_ms LIMIT 1;
      IF v_last - v_first + 1 >= v_limit THEN
        outcome := 'rate_limited';
        SELECT w.at_ms - v_moment + v_window_ms INTO retry_after_ms FROM token_count_window w
         WHERE w.account_id = v_request.id AND w.at_ms > v_moment - v_window_ms
           AND w.last_number > v_last - v_limit
         ORDER BY w.at_ms LIMIT 1;
      ELSE
        INSERT INTO token_count_window VALUES (v_request.id, v_moment, v_last + 1, v_last + 1)
        ON CONFLICT (account_id, at_ms) DO UPDATE SET last_number = EXCLUDED.last_number;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
