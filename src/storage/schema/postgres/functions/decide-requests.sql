-- Decides a batch of requests and writes nothing. Requests of one account are decided in the order they
-- stand in; an admitted one counts toward the next, unless each is only checked. The order of the rules and
-- the names of the outcomes are those of `limits` in src/ledger/limits.ts. Amounts of a key are read once for
-- a batch, and only those that a limit needs. STABLE: it sees what the calling statement sees. A check calls
-- it directly, so it keeps one plan for each statement itself; plans made while tables were small would read
-- them as a whole.
CREATE OR REPLACE FUNCTION decide_requests(
  p_now_ms BIGINT, -- of store_time
  p_is_check BOOLEAN,
  p_requests TEXT, -- an array of rows of type admission
  p_decided TEXT[] -- accounts whose requests are decided already
) RETURNS TABLE (
  place INTEGER,
  outcome TEXT,
  amount_picos BIGINT, -- of the hold there is
  is_uncovered BOOLEAN, -- in some scope less is left than the hold's amount
  balance_picos BIGINT,
  credit_line_picos BIGINT,
  held_picos BIGINT,
  is_held_only BOOLEAN, -- balance and line would do without holds
  used_picos BIGINT,
  limit_picos BIGINT,
  retry_after_ms BIGINT,
  rpm INTEGER,
  window_minutes INTEGER,
  counted BIGINT, -- requests in the account's window, this one included
  oldest_age_ms BIGINT, -- of the first of them
  key_counted BIGINT, -- the same for the key
  key_oldest_age_ms BIGINT,
  tpm BIGINT, -- the account's
  is_new BOOLEAN, -- a hold to be written
  moment BIGINT, -- where this request is counted: its place in the windows of the account and of the key
  number BIGINT,
  key_moment BIGINT,
  key_number BIGINT
) LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
  v_admissions admission[] := p_requests;
  v_request RECORD;
  v_new INTEGER[] := '{}'; -- places of the new holds
  v_second BIGINT := p_now_ms / 1000 - 60; -- tokens of later seconds count
  -- The account whose requests are being decided.
  v_account_id TEXT;
  v_held BIGINT;
  v_moment BIGINT; -- of this batch in the window; never before an earlier one
  v_last BIGINT; -- number of the window's last request, this batch included
  v_oldest BIGINT;
  v_window_ms BIGINT;
  v_tokens BIGINT;
  v_day TEXT;
  v_used BIGINT;
  v_month TEXT;
  v_month_used BIGINT;
  v_limit_left BIGINT; -- in the limit that is looked at
  v_left BIGINT; -- the least of all scopes
  v_limits BIGINT[]; -- of the key for its day, its month and in all; 0 = none
  v_useds BIGINT[];
  -- Of the keys met so far, by account and key; NULL = not read.
  v_key INTEGER;
  v_key_ids TEXT[] := '{}';
  v_key_days TEXT[] := '{}';
  v_key_day_used BIGINT[] := '{}';
  v_key_month_used BIGINT[] := '{}';
  v_key_total_used BIGINT[] := '{}';
  v_key_held BIGINT[] := '{}';
  v_key_moments BIGINT[] := '{}';
  v_key_lasts BIGINT[] := '{}';
  v_key_counted BIGINT[] := '{}';
  v_key_oldest BIGINT[] := '{}';
  v_key_tokens BIGINT[] := '{}';
  v_first RECORD;
  v_sum BIGINT;
  v_total BIGINT;
BEGIN
  FOR v_request IN
    SELECT r.*, a.balance_picos, a.credit_line_picos, a.held_picos, a.daily_limit_picos,
        a.monthly_limit_picos, a.rpm, a.tokens_per_minute, a.window_minutes,
        h.amount_picos AS there_picos, h.is_uncovered AS there_uncovered
      FROM unnest(v_admissions) r
      JOIN account a ON a.id = r.account_id
      LEFT JOIN hold h ON h.account_id = r.account_id AND h.exchange_id = r.exchange_id
     WHERE r.account_id <> ALL (p_decided)
     ORDER BY r.account_id, r.place
  LOOP
    IF v_account_id IS DISTINCT FROM v_request.account_id THEN
      v_account_id := v_request.account_id;
      balance_picos := v_request.balance_picos;
      credit_line_picos := v_request.credit_line_picos;
      v_held := v_request.held_picos;
      rpm := v_request.rpm;
      tpm := v_request.tokens_per_minute;
      window_minutes := v_request.window_minutes;
      counted := 0;
      v_tokens := NULL;
      v_day := NULL;
      v_month := NULL;
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
             WHERE w.account_id = v_account_id AND w.at_ms > GREATEST(p_now_ms, l.at_ms) - v_window_ms
             ORDER BY w.at_ms LIMIT 1) f ON TRUE;
        v_moment := GREATEST(p_now_ms, v_moment);
        v_last := COALESCE(v_last, 0);
        counted := COALESCE(counted, 0);
      END IF;
    END IF;

    place := v_request.place;
    amount_picos := v_request.there_picos;
    is_uncovered := v_request.there_uncovered;
    held_picos := v_held;
    is_held_only := NULL;
    used_picos := NULL;
    limit_picos := NULL;
    retry_after_ms := NULL;
    oldest_age_ms := v_moment - v_oldest;
    key_counted := NULL;
    key_oldest_age_ms := NULL;
    is_new := FALSE;
    moment := NULL;
    number := NULL;
    key_moment := NULL;
    key_number := NULL;

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
         AND w.last_number > v_last - rpm::bigint * window_minutes
       ORDER BY w.at_ms LIMIT 1;
      retry_after_ms := COALESCE(retry_after_ms, v_moment) - v_moment + v_window_ms;
      outcome := 'account_rpm';
      RETURN NEXT;
      CONTINUE;
    END IF;

    v_key := NULL;
    IF v_request.key_daily > 0 OR v_request.key_monthly > 0 OR v_request.key_total > 0
        OR v_request.key_rpm > 0 OR v_request.key_tpm > 0 THEN
      v_key := array_position(v_key_ids, v_account_id || v_request.key_id);
      IF v_key IS NULL THEN
        v_key := cardinality(v_key_ids) + 1;
        v_key_ids[v_key] := v_account_id || v_request.key_id;
        v_key_counted[v_key] := NULL;
        v_key_tokens[v_key] := NULL;
        v_key_held[v_key] := NULL;
        v_key_days[v_key] := NULL;
      END IF;
    END IF;

    IF v_request.key_rpm > 0 THEN
      IF v_key_counted[v_key] IS NULL THEN
        SELECT l.at_ms, l.last_number, f.at_ms AS first_ms, l.last_number - f.first_number + 1 AS counted
          INTO v_first
          FROM (SELECT w.at_ms, w.last_number FROM key_request_window w
                 WHERE w.account_id = v_account_id AND w.key_id = v_request.key_id
                   AND w.allowance = 'requests' ORDER BY w.at_ms DESC LIMIT 1) l
          LEFT JOIN LATERAL (
            SELECT w.at_ms, w.first_number FROM key_request_window w
             WHERE w.account_id = v_account_id AND w.key_id = v_request.key_id
               AND w.allowance = 'requests' AND w.at_ms > GREATEST(p_now_ms, l.at_ms) - 60000
             ORDER BY w.at_ms LIMIT 1) f ON TRUE;
        v_key_moments[v_key] := GREATEST(p_now_ms, v_first.at_ms);
        v_key_lasts[v_key] := COALESCE(v_first.last_number, 0);
        v_key_counted[v_key] := COALESCE(v_first.counted, 0);
        v_key_oldest[v_key] := v_first.first_ms;
      END IF;
      key_counted := v_key_counted[v_key];
      key_oldest_age_ms := v_key_moments[v_key] - v_key_oldest[v_key];
      IF key_counted >= v_request.key_rpm THEN
        SELECT w.at_ms INTO retry_after_ms FROM key_request_window w
         WHERE w.account_id = v_account_id AND w.key_id = v_request.key_id AND w.allowance = 'requests'
           AND w.at_ms > v_key_moments[v_key] - 60000
           AND w.last_number > v_key_lasts[v_key] - v_request.key_rpm
         ORDER BY w.at_ms LIMIT 1;
        retry_after_ms := COALESCE(retry_after_ms, v_key_moments[v_key]) - v_key_moments[v_key] + 60000;
        outcome := 'key_rpm';
        RETURN NEXT;
        CONTINUE;
      END IF;
    END IF;

    IF v_request.exchange_id IS NOT NULL THEN
      IF tpm > 0 THEN
        IF v_tokens IS NULL THEN
          SELECT COALESCE(SUM(t.tokens), 0) INTO v_tokens FROM token_minute t
           WHERE t.account_id = v_account_id AND t.second > v_second;
        END IF;
        IF v_tokens >= tpm THEN
          SELECT (t.second + 60) * 1000 - p_now_ms INTO retry_after_ms FROM (
            SELECT m.second, SUM(SUM(m.tokens)) OVER (ORDER BY m.second DESC) - SUM(m.tokens) AS later
              FROM token_minute m WHERE m.account_id = v_account_id AND m.second > v_second
             GROUP BY m.second) t
           WHERE t.later < tpm ORDER BY t.second LIMIT 1;
          outcome := 'account_tpm';
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;

      IF v_request.key_tpm > 0 THEN
        IF v_key_tokens[v_key] IS NULL THEN
          SELECT COALESCE(SUM(t.tokens), 0) INTO v_sum FROM token_minute t
           WHERE t.account_id = v_account_id AND t.key_id = v_request.key_id AND t.second > v_second;
          v_key_tokens[v_key] := v_sum;
        END IF;
        IF v_key_tokens[v_key] >= v_request.key_tpm THEN
          SELECT (t.second + 60) * 1000 - p_now_ms INTO retry_after_ms FROM (
            SELECT m.second, SUM(m.tokens) OVER (ORDER BY m.second DESC) - m.tokens AS later
              FROM token_minute m
             WHERE m.account_id = v_account_id AND m.key_id = v_request.key_id AND m.second > v_second) t
           WHERE t.later < v_request.key_tpm ORDER BY t.second LIMIT 1;
          outcome := 'key_tpm';
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;

      v_left := balance_picos + credit_line_picos - v_held;
      IF v_left < v_request.least_picos THEN
        outcome := 'balance';
        is_held_only := balance_picos + credit_line_picos >= v_request.least_picos;
        RETURN NEXT;
        CONTINUE;
      END IF;

      IF v_request.daily_limit_picos > 0 THEN
        IF v_day IS DISTINCT FROM v_request.day THEN
          v_day := v_request.day;
          SELECT COALESCE(SUM(u.revenue_picos - u.refunded_picos), 0) INTO v_used FROM report_day u
           WHERE u.account_id = v_account_id AND u.day = v_day;
        END IF;
        v_limit_left := v_request.daily_limit_picos - v_used - v_held;
        IF v_limit_left < v_request.least_picos THEN
          outcome := 'account_day';
          used_picos := v_used;
          limit_picos := v_request.daily_limit_picos;
          RETURN NEXT;
          CONTINUE;
        END IF;
        v_left := LEAST(v_left, v_limit_left);
      END IF;

      IF v_request.monthly_limit_picos > 0 THEN
        IF v_month IS DISTINCT FROM left(v_request.day, 7) THEN
          v_month := left(v_request.day, 7);
          SELECT COALESCE(SUM(u.cost_picos), 0) INTO v_month_used FROM usage_month u
           WHERE u.account_id = v_account_id AND u.month = v_month;
        END IF;
        v_limit_left := v_request.monthly_limit_picos - v_month_used - v_held;
        IF v_limit_left < v_request.least_picos THEN
          outcome := 'account_month';
          used_picos := v_month_used;
          limit_picos := v_request.monthly_limit_picos;
          RETURN NEXT;
          CONTINUE;
        END IF;
        v_left := LEAST(v_left, v_limit_left);
      END IF;

      IF v_request.key_daily > 0 OR v_request.key_monthly > 0 OR v_request.key_total > 0 THEN
        IF v_key_held[v_key] IS NULL THEN
          SELECT COALESCE(SUM(part.amount_picos), 0) INTO v_sum FROM (
            SELECT h.amount_picos FROM hold h
             WHERE h.account_id = v_account_id AND h.key_id = v_request.key_id
            UNION ALL
            SELECT r.amount_picos FROM unnest(v_admissions) r
             WHERE r.place = ANY (v_new) AND r.account_id = v_account_id AND r.key_id = v_request.key_id
          ) part;
          v_key_held[v_key] := v_sum;
        END IF;
        IF v_key_days[v_key] IS DISTINCT FROM v_request.day THEN
          v_key_days[v_key] := v_request.day;
          SELECT COALESCE(SUM(u.revenue_picos - u.refunded_picos), 0) INTO v_sum FROM report_day u
           WHERE u.account_id = v_account_id AND u.day = v_request.day
             AND u.key_id = v_request.key_id;
          v_key_day_used[v_key] := v_sum;
          SELECT COALESCE(SUM(u.cost_picos) FILTER (WHERE u.month <> 'total'), 0),
              COALESCE(SUM(u.cost_picos) FILTER (WHERE u.month = 'total'), 0)
            INTO v_sum, v_total
            FROM usage_key_month u
           WHERE u.account_id = v_account_id AND u.key_id = v_request.key_id
             AND u.month IN (left(v_request.day, 7), 'total');
          v_key_month_used[v_key] := v_sum;
          v_key_total_used[v_key] := v_total;
        END IF;
        v_limits := ARRAY[v_request.key_daily, v_request.key_monthly, v_request.key_total];
        v_useds := ARRAY[v_key_day_used[v_key], v_key_month_used[v_key], v_key_total_used[v_key]];
        FOR v_period IN 1..3 LOOP
          CONTINUE WHEN v_limits[v_period] = 0;
          v_limit_left := v_limits[v_period] - v_useds[v_period] - v_key_held[v_key];
          v_left := LEAST(v_left, v_limit_left);
          IF v_limit_left < v_request.least_picos THEN
            outcome := (ARRAY['key_day', 'key_month', 'key_total'])[v_period];
            used_picos := v_useds[v_period];
            limit_picos := v_limits[v_period];
            held_picos := v_key_held[v_key];
            EXIT;
          END IF;
        END LOOP;
        IF limit_picos IS NOT NULL THEN
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;
    END IF;

    outcome := 'hold';
    amount_picos := v_request.amount_picos;
    is_uncovered := v_request.exchange_id IS NOT NULL AND v_left < amount_picos;
    IF NOT p_is_check THEN
      IF v_request.exchange_id IS NOT NULL THEN
        is_new := TRUE;
        v_new := array_append(v_new, place);
        v_held := v_held + amount_picos;
        IF v_key IS NOT NULL THEN
          v_key_held[v_key] := v_key_held[v_key] + amount_picos;
        END IF;
      END IF;
      IF rpm > 0 THEN
        v_last := v_last + 1;
        v_oldest := COALESCE(v_oldest, v_moment);
        moment := v_moment;
        number := v_last;
        counted := counted + 1;
        oldest_age_ms := v_moment - v_oldest;
      END IF;
      IF v_request.key_rpm > 0 THEN
        v_key_lasts[v_key] := v_key_lasts[v_key] + 1;
        v_key_counted[v_key] := v_key_counted[v_key] + 1;
        v_key_oldest[v_key] := COALESCE(v_key_oldest[v_key], v_key_moments[v_key]);
        key_moment := v_key_moments[v_key];
        key_number := v_key_lasts[v_key];
        key_counted := v_key_counted[v_key];
        key_oldest_age_ms := key_moment - v_key_oldest[v_key];
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
