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
  v_owner RECORD; -- the account ('') or the key, whose allowance it is
  v_moment BIGINT;
  v_last BIGINT;
  v_first BIGINT; -- the number of the first request in the window
  -- Where the request is counted, if it is admitted.
  v_owners TEXT[];
  v_moments BIGINT[];
  v_numbers BIGINT[];
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
    v_owners := '{}';
    v_moments := '{}';
    v_numbers := '{}';
    FOR v_owner IN
      SELECT * FROM (VALUES
        ('account_rpm', '', rpm::bigint * window_minutes, window_minutes * 60000::bigint),
        ('key_rpm', v_request.key_id, v_request.key_rpm::bigint * p_factor, 60000::bigint)
      ) AS owner (refusal, key_id, most, window_ms) WHERE most > 0
    LOOP
      v_moment := NULL;
      v_last := NULL;
      v_first := NULL;
      SELECT w.at_ms, w.last_number INTO v_moment, v_last FROM key_request_window w
       WHERE w.account_id = v_request.id AND w.key_id = v_owner.key_id AND w.allowance = 'free_requests'
       ORDER BY w.at_ms DESC LIMIT 1;
      v_moment := GREATEST(v_now, v_moment);
      v_last := COALESCE(v_last, 0);
      SELECT w.first_number INTO v_first FROM key_request_window w
       WHERE w.account_id = v_request.id AND w.key_id = v_owner.key_id AND w.allowance = 'free_requests'
         AND w.at_ms > v_moment - v_owner.window_ms
       ORDER BY w.at_ms LIMIT 1;
      IF v_last - v_first + 1 >= v_owner.most THEN
        outcome := v_owner.refusal;
        SELECT w.at_ms - v_moment + v_owner.window_ms INTO retry_after_ms FROM key_request_window w
         WHERE w.account_id = v_request.id AND w.key_id = v_owner.key_id AND w.allowance = 'free_requests'
           AND w.at_ms > v_moment - v_owner.window_ms AND w.last_number > v_last - v_owner.most
         ORDER BY w.at_ms LIMIT 1;
        EXIT;
      END IF;
      v_owners := array_append(v_owners, v_owner.key_id);
      v_moments := array_append(v_moments, v_moment);
      v_numbers := array_append(v_numbers, v_last + 1);
    END LOOP;
    IF outcome = 'hold' THEN
      INSERT INTO key_request_window
      SELECT v_request.id, o.key_id, 'free_requests', o.moment, o.number, o.number
        FROM unnest(v_owners, v_moments, v_numbers) o (key_id, moment, number)
      ON CONFLICT (account_id, key_id, allowance, at_ms)
        DO UPDATE SET last_number = EXCLUDED.last_number;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
