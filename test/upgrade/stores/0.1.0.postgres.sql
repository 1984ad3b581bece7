CREATE TYPE public.admission AS (
	place integer,
	account_id text COLLATE pg_catalog."C",
	exchange_id text COLLATE pg_catalog."C",
	key_id text COLLATE pg_catalog."C",
	amount_picos bigint,
	least_picos bigint,
	day text COLLATE pg_catalog."C",
	key_daily bigint,
	key_monthly bigint,
	key_total bigint,
	key_rpm integer,
	key_tpm bigint
);
CREATE FUNCTION public.count_free_requests(p_now_ms bigint, p_account_ids text[], p_key_ids text[], p_key_rpms integer[], p_factor integer) RETURNS TABLE(place integer, outcome text, amount_picos bigint, retry_after_ms bigint, rpm integer, window_minutes integer)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
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
CREATE FUNCTION public.count_labels(p_report_day text) RETURNS text
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  v_reports report_day[] := p_report_day;
  v_new RECORD;
BEGIN
  FOR v_new IN
    SELECT DISTINCT r.account_id, r.day, r.label FROM unnest(v_reports) r
     WHERE r.label NOT IN ('', 'other') AND NOT EXISTS (
       SELECT 1 FROM label_day l WHERE l.account_id = r.account_id AND l.day = r.day AND l.label = r.label)
  LOOP
    INSERT INTO label_day (account_id, day, label)
    SELECT v_new.account_id, v_new.day, v_new.label
     WHERE (SELECT COUNT(*) FROM label_day l WHERE l.account_id = v_new.account_id AND l.day = v_new.day) < 200;
  END LOOP;
  RETURN ARRAY(
    SELECT ROW(r.day, r.account_id, r.key_id, r.model, r.channel, r.counted,
      SUM(r.requests)::bigint, SUM(r.charged_requests)::bigint, SUM(r.errors)::bigint,
      SUM(r.failovers)::bigint, SUM(r.known_cost_requests)::bigint, SUM(r.input_tokens)::bigint,
      SUM(r.output_tokens)::bigint, SUM(r.cache_read_tokens)::bigint, SUM(r.cache_write_tokens)::bigint,
      SUM(r.prompt_tokens)::bigint, SUM(r.first_event_le_100)::bigint, SUM(r.first_event_le_200)::bigint,
      SUM(r.first_event_le_300)::bigint, SUM(r.first_event_le_500)::bigint, SUM(r.first_event_le_750)::bigint,
      SUM(r.first_event_le_1000)::bigint, SUM(r.first_event_le_1500)::bigint,
      SUM(r.first_event_le_2000)::bigint, SUM(r.first_event_le_3000)::bigint,
      SUM(r.first_event_le_5000)::bigint, SUM(r.first_event_le_7500)::bigint,
      SUM(r.first_event_le_10000)::bigint, SUM(r.first_event_le_20000)::bigint,
      SUM(r.first_event_le_60000)::bigint, SUM(r.first_event_above)::bigint, SUM(r.revenue_picos)::bigint,
      SUM(r.own_cost_picos)::bigint, SUM(r.lost_cost_picos)::bigint, SUM(r.refunded_picos)::bigint,
      SUM(r.unknown_cost_revenue_picos)::bigint)::report_day
      FROM (
        SELECT r.*, CASE WHEN r.label = '' OR l.label IS NOT NULL THEN r.label ELSE 'other' END AS counted
          FROM unnest(v_reports) r
          LEFT JOIN label_day l ON l.account_id = r.account_id AND l.day = r.day AND l.label = r.label) r
     GROUP BY r.day, r.account_id, r.key_id, r.model, r.channel, r.counted)::text;
END $$;
CREATE FUNCTION public.decide_requests(p_now_ms bigint, p_is_check boolean, p_requests text, p_decided text[]) RETURNS TABLE(place integer, outcome text, amount_picos bigint, is_uncovered boolean, balance_picos bigint, credit_line_picos bigint, held_picos bigint, is_held_only boolean, used_picos bigint, limit_picos bigint, retry_after_ms bigint, rpm integer, window_minutes integer, counted bigint, oldest_age_ms bigint, key_counted bigint, key_oldest_age_ms bigint, tpm bigint, is_new boolean, moment bigint, number bigint, key_moment bigint, key_number bigint)
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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
CREATE FUNCTION public.ensure_exchange_partitions(p_from_ms bigint, p_to_ms bigint) RETURNS void
    LANGUAGE plpgsql
    SET lock_timeout TO '50ms'
    AS $$
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
CREATE FUNCTION public.expire_holds(p_now_ms bigint, p_own_boot bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.first_exchange_id(p_at_ms bigint) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
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
CREATE FUNCTION public.note_requests() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM nextval('recorded_requests');
  RETURN NULL;
END $$;
CREATE FUNCTION public.place_requests(p_now_ms bigint, p_boot bigint, p_account_ids text[], p_together_picos bigint[], p_requests text, p_charged_picos bigint[], p_hold_count integer, p_exchange text, p_report_day text, p_usage_month text, p_usage_key_month text, p_token_minute text, p_answer_state text) RETURNS TABLE(place integer, outcome text, amount_picos bigint, is_uncovered boolean, balance_picos bigint, credit_line_picos bigint, held_picos bigint, is_held_only boolean, used_picos bigint, limit_picos bigint, retry_after_ms bigint, rpm integer, window_minutes integer, counted bigint, oldest_age_ms bigint, key_counted bigint, key_oldest_age_ms bigint, tpm bigint)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
  v_now BIGINT;
  v_admissions admission[] := p_requests;
  v_account RECORD;
  v_place INTEGER;
  -- Of each account of the call.
  v_lefts BIGINT[]; -- balance and line less holds; NULL where the account has a limit
  v_freed BIGINT[] := array_fill(0::bigint, ARRAY[cardinality(p_account_ids)]); -- by the exchanges
  v_helds BIGINT[]; -- the change of its holds
  v_together TEXT[] := '{}'; -- accounts whose requests are admitted together
  v_has_lease BOOLEAN;
  v_is_new BOOLEAN;
  v_moment BIGINT;
  v_number BIGINT;
  v_key_moment BIGINT;
  v_key_number BIGINT;
  v_count INTEGER := 0;
  v_changed INTEGER;
  -- The new holds, by the places of their requests.
  v_new INTEGER[] := '{}';
  v_uncovered INTEGER[] := '{}';
  -- Requests that count in the window of their account, and of their key.
  v_counted INTEGER[] := '{}';
  v_moments BIGINT[] := '{}';
  v_numbers BIGINT[] := '{}';
  v_key_counted INTEGER[] := '{}';
  v_key_moments BIGINT[] := '{}';
  v_key_numbers BIGINT[] := '{}';
BEGIN
  -- Gateways look at this once for each connection; a reload may have changed it since.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  FOR v_account IN
    SELECT a.id, a.balance_picos + a.credit_line_picos - a.held_picos AS left_picos,
        a.rpm = 0 AND a.tokens_per_minute = 0 AND a.daily_limit_picos = 0 AND a.monthly_limit_picos = 0
          AS is_unlimited
      FROM account a WHERE a.id = ANY (p_account_ids) ORDER BY a.id FOR NO KEY UPDATE
  LOOP
    IF v_account.is_unlimited THEN
      v_lefts[array_position(p_account_ids, v_account.id)] := v_account.left_picos;
    END IF;
  END LOOP;
  IF p_exchange IS NOT NULL THEN
    v_freed := settle_exchanges(p_account_ids, p_hold_count, p_exchange, p_report_day, p_usage_month,
      p_usage_key_month, p_token_minute, p_answer_state);
  END IF;
  v_now := store_time(p_now_ms);
  v_has_lease := cardinality(v_admissions) > 0
    AND EXISTS (SELECT 1 FROM node n WHERE n.boot = p_boot AND n.lease_until_ms > v_now);
  outcome := 'account';
  FOR v_place IN 1..cardinality(p_account_ids) LOOP
    v_helds[v_place] := -v_freed[v_place];
    IF v_has_lease AND p_together_picos[v_place] > 0
      AND v_lefts[v_place] - p_charged_picos[v_place] + v_freed[v_place] >= p_together_picos[v_place]
    THEN
      v_helds[v_place] := v_helds[v_place] + p_together_picos[v_place];
      v_together := array_append(v_together, p_account_ids[v_place]);
      place := v_place;
      RETURN NEXT;
    END IF;
    IF p_charged_picos[v_place] <> 0 OR v_helds[v_place] <> 0 THEN
      v_count := v_count + 1;
    END IF;
  END LOOP;
  UPDATE account a
     SET balance_picos = a.balance_picos - p_charged_picos[i], held_picos = a.held_picos + v_helds[i]
    FROM generate_subscripts(p_account_ids, 1) i
   WHERE a.id = p_account_ids[i] AND (p_charged_picos[i] <> 0 OR v_helds[i] <> 0);
  GET DIAGNOSTICS v_changed = ROW_COUNT;
  IF v_changed <> v_count THEN
    RAISE EXCEPTION 'a charge is of an account that does not exist' USING ERRCODE = 'foreign_key_violation';
  END IF;
  IF cardinality(v_admissions) = 0 THEN
    RETURN;
  END IF;
  IF NOT v_has_lease THEN
    place := 0;
    outcome := 'lease_lost';
    RETURN NEXT;
    RETURN;
  END IF;
  IF v_together <> '{}' THEN
    INSERT INTO hold
    SELECT r.account_id, r.exchange_id, r.key_id, r.amount_picos, FALSE, p_boot, v_now
      FROM unnest(v_admissions) r WHERE r.account_id = ANY (v_together);
    GET DIAGNOSTICS v_changed = ROW_COUNT;
    IF v_changed = cardinality(v_admissions) THEN
      RETURN;
    END IF;
  END IF;
  FOR place, outcome, amount_picos, is_uncovered, balance_picos, credit_line_picos, held_picos,
      is_held_only, used_picos, limit_picos, retry_after_ms, rpm, window_minutes, counted, oldest_age_ms, key_counted,
      key_oldest_age_ms, tpm, v_is_new, v_moment, v_number, v_key_moment, v_key_number IN
    SELECT * FROM decide_requests(v_now, FALSE, p_requests, v_together)
  LOOP
    RETURN NEXT;
    IF v_is_new THEN
      v_new := array_append(v_new, place);
      IF is_uncovered THEN
        v_uncovered := array_append(v_uncovered, place);
      END IF;
    END IF;
    IF v_number IS NOT NULL THEN
      v_counted := array_append(v_counted, place);
      v_moments := array_append(v_moments, v_moment);
      v_numbers := array_append(v_numbers, v_number);
    END IF;
    IF v_key_number IS NOT NULL THEN
      v_key_counted := array_append(v_key_counted, place);
      v_key_moments := array_append(v_key_moments, v_key_moment);
      v_key_numbers := array_append(v_key_numbers, v_key_number);
    END IF;
  END LOOP;
  IF v_new <> '{}' THEN
    INSERT INTO hold
    SELECT r.account_id, r.exchange_id, r.key_id, r.amount_picos, r.place = ANY (v_uncovered), p_boot, v_now
      FROM unnest(v_admissions) r WHERE r.place = ANY (v_new);
    UPDATE account a SET held_picos = a.held_picos + n.held_picos
      FROM (SELECT r.account_id, SUM(r.amount_picos)::bigint AS held_picos
              FROM unnest(v_admissions) r WHERE r.place = ANY (v_new) GROUP BY 1) n
     WHERE a.id = n.account_id;
  END IF;
  IF v_counted <> '{}' THEN
    INSERT INTO request_window
    SELECT v_admissions[k.place].account_id, k.moment, MIN(k.number), MAX(k.number)
      FROM unnest(v_counted, v_moments, v_numbers) k (place, moment, number)
     GROUP BY 1, 2
    ON CONFLICT (account_id, at_ms) DO UPDATE SET last_number = EXCLUDED.last_number;
  END IF;
  IF v_key_counted <> '{}' THEN
    INSERT INTO key_request_window
    SELECT v_admissions[k.place].account_id, v_admissions[k.place].key_id, 'requests', k.moment, MIN(k.number),
        MAX(k.number)
      FROM unnest(v_key_counted, v_key_moments, v_key_numbers) k (place, moment, number)
     GROUP BY 1, 2, 4
    ON CONFLICT (account_id, key_id, allowance, at_ms)
      DO UPDATE SET last_number = EXCLUDED.last_number;
  END IF;
END $$;
CREATE FUNCTION public.raise_revision() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE revision SET number = number + 1 WHERE area = TG_ARGV[0];
  PERFORM pg_notify('turnpike_revision', TG_ARGV[0]);
  RETURN NULL;
END $$;
CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION public.release_holds(p_account_ids text[], p_exchange_ids text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.settle_alone(p_account_id text, p_exchange_id text, p_amount_picos bigint, p_exchange text, p_report_day text, p_usage_month text, p_usage_key_month text, p_token_minute text, p_answer_state text) RETURNS boolean
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  v_left BIGINT;
  v_recorded BIGINT;
  v_hold_count INTEGER;
BEGIN
  SELECT a.balance_picos + a.credit_line_picos - a.held_picos INTO v_left
    FROM account a WHERE a.id = p_account_id FOR NO KEY UPDATE;
  SELECT x.amount_picos INTO v_recorded
    FROM exchange x WHERE x.account_id = p_account_id AND x.exchange_id = p_exchange_id;
  IF FOUND OR EXISTS (
    SELECT 1 FROM entry e WHERE e.account_id = p_account_id AND e.reference = p_exchange_id)
  THEN
    PERFORM release_holds(ARRAY[p_account_id], ARRAY[p_exchange_id]);
    RETURN COALESCE(v_recorded, 1) = 0 AND p_amount_picos > 0;
  END IF;
  SELECT COUNT(*) INTO v_hold_count
    FROM hold h WHERE h.account_id = p_account_id AND h.exchange_id = p_exchange_id;
  IF v_hold_count = 0 AND p_amount_picos > GREATEST(v_left, 0) THEN
    RETURN TRUE;
  END IF;
  PERFORM place_requests(NULL, NULL, ARRAY[p_account_id], '{0}', '{}', ARRAY[p_amount_picos], v_hold_count,
    p_exchange, p_report_day, p_usage_month, p_usage_key_month, p_token_minute, p_answer_state);
  RETURN FALSE;
END $$;
CREATE FUNCTION public.settle_exchanges(p_account_ids text[], p_hold_count integer, p_exchange text, p_report_day text, p_usage_month text, p_usage_key_month text, p_token_minute text, p_answer_state text) RETURNS bigint[]
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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
CREATE FUNCTION public.store_time(p_now_ms bigint) RETURNS bigint
    LANGUAGE sql
    AS $$
  SELECT COALESCE(p_now_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;
CREATE TABLE public.account (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'active'::text NOT NULL COLLATE pg_catalog."C",
    external_id text COLLATE pg_catalog."C",
    contact text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    language text DEFAULT 'en'::text NOT NULL COLLATE pg_catalog."C",
    note text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    bill_to text DEFAULT ''::text NOT NULL,
    price_multiplier_ppm bigint DEFAULT 1000000 NOT NULL,
    daily_limit_picos bigint DEFAULT 0 NOT NULL,
    monthly_limit_picos bigint DEFAULT 0 NOT NULL,
    rpm integer DEFAULT 0 NOT NULL,
    window_minutes integer DEFAULT 1 NOT NULL,
    tokens_per_minute bigint DEFAULT 0 NOT NULL,
    credit_line_picos bigint DEFAULT 0 NOT NULL,
    largest_credit_line_picos bigint DEFAULT 0 NOT NULL,
    holds text COLLATE pg_catalog."C",
    has_paid integer DEFAULT 0 NOT NULL,
    alert_below_picos bigint DEFAULT 0 NOT NULL,
    balance_picos bigint DEFAULT 0 NOT NULL,
    created_at_ms bigint NOT NULL,
    closed_at_ms bigint,
    held_picos bigint DEFAULT 0 NOT NULL,
    CONSTRAINT account_alert_below_picos_check CHECK ((alert_below_picos >= 0)),
    CONSTRAINT account_credit_line_picos_check CHECK ((credit_line_picos >= 0)),
    CONSTRAINT account_daily_limit_picos_check CHECK ((daily_limit_picos >= 0)),
    CONSTRAINT account_held_picos_check CHECK ((held_picos >= 0)),
    CONSTRAINT account_holds_check CHECK ((holds = ANY (ARRAY['likely'::text, 'most'::text]))),
    CONSTRAINT account_monthly_limit_picos_check CHECK ((monthly_limit_picos >= 0)),
    CONSTRAINT account_price_multiplier_ppm_check CHECK ((price_multiplier_ppm >= 0)),
    CONSTRAINT account_rpm_check CHECK ((rpm >= 0)),
    CONSTRAINT account_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text]))),
    CONSTRAINT account_tokens_per_minute_check CHECK ((tokens_per_minute >= 0)),
    CONSTRAINT account_window_minutes_check CHECK ((window_minutes >= 1))
)
WITH (fillfactor='50');
CREATE TABLE public.alert (
    id text NOT NULL,
    cause text NOT NULL,
    account_id text,
    conditions text NOT NULL,
    severity_max text NOT NULL,
    condition_count integer NOT NULL,
    first_seen_at_ms bigint NOT NULL,
    last_seen_at_ms bigint NOT NULL,
    acknowledged_by text,
    acknowledged_at_ms bigint,
    acknowledged_note text,
    snoozed_until_ms bigint,
    changed_at_ms bigint NOT NULL
);
CREATE TABLE public.alert_delivery (
    id text NOT NULL,
    target_id text NOT NULL,
    recipient text NOT NULL,
    language text NOT NULL,
    kind text NOT NULL,
    notice text NOT NULL,
    state text NOT NULL,
    due_at_ms bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    outcome text NOT NULL,
    created_at_ms bigint NOT NULL,
    ended_at_ms bigint,
    CONSTRAINT alert_delivery_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text, 'dropped'::text])))
);
CREATE TABLE public.alert_target (
    id text NOT NULL,
    name text NOT NULL,
    format text NOT NULL,
    address text NOT NULL,
    sealed text,
    min_severity text NOT NULL,
    created_at_ms bigint NOT NULL,
    CONSTRAINT alert_target_format_check CHECK ((format = ANY (ARRAY['webhook'::text, 'slack'::text, 'email'::text]))),
    CONSTRAINT alert_target_min_severity_check CHECK ((min_severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text])))
);
CREATE TABLE public.answer_state (
    vendor text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    account_id text NOT NULL,
    channel text NOT NULL,
    model text NOT NULL,
    response_id text,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    expires_at_ms bigint NOT NULL,
    CONSTRAINT answer_state_kind_check CHECK ((kind = ANY (ARRAY['response'::text, 'item'::text, 'encrypted'::text])))
);
CREATE TABLE public.audit_checkpoint (
    account_id text NOT NULL COLLATE pg_catalog."C",
    through_ms bigint NOT NULL,
    balance_picos bigint NOT NULL,
    audited_at_ms bigint NOT NULL
);
CREATE TABLE public.channel (
    name text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    credential text NOT NULL COLLATE pg_catalog."C",
    credential_form text COLLATE pg_catalog."C",
    path text DEFAULT '/v1'::text NOT NULL COLLATE pg_catalog."C",
    chat_path text COLLATE pg_catalog."C",
    query text DEFAULT '{}'::text NOT NULL COLLATE pg_catalog."C",
    headers text DEFAULT '{}'::text NOT NULL COLLATE pg_catalog."C",
    proxy text COLLATE pg_catalog."C",
    stream_usage text DEFAULT 'ask'::text NOT NULL COLLATE pg_catalog."C",
    drop_betas text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    models text NOT NULL COLLATE pg_catalog."C",
    rank integer DEFAULT 0 NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    max_concurrent integer,
    check_kind text DEFAULT 'request'::text NOT NULL COLLATE pg_catalog."C",
    override text DEFAULT 'enabled'::text NOT NULL COLLATE pg_catalog."C",
    output_limit text COLLATE pg_catalog."C",
    first_event_timeout_ms bigint,
    idle_timeout_ms bigint,
    baselines text DEFAULT '{}'::text NOT NULL,
    cost text,
    allow_private integer DEFAULT 0 NOT NULL,
    credential_set_at_ms bigint NOT NULL,
    retired_at_ms bigint,
    CONSTRAINT channel_check_kind_check CHECK ((check_kind = ANY (ARRAY['request'::text, 'models'::text, 'none'::text]))),
    CONSTRAINT channel_credential_form_check CHECK ((credential_form = ANY (ARRAY['x-api-key'::text, 'bearer'::text, 'api-key'::text]))),
    CONSTRAINT channel_first_event_timeout_ms_check CHECK ((first_event_timeout_ms > 0)),
    CONSTRAINT channel_idle_timeout_ms_check CHECK ((idle_timeout_ms > 0)),
    CONSTRAINT channel_override_check CHECK ((override = ANY (ARRAY['enabled'::text, 'disabled'::text]))),
    CONSTRAINT channel_stream_usage_check CHECK ((stream_usage = ANY (ARRAY['ask'::text, 'never'::text]))),
    CONSTRAINT channel_weight_check CHECK ((weight >= 1))
);
CREATE TABLE public.channel_change (
    sequence bigint NOT NULL,
    id text NOT NULL,
    at_ms bigint NOT NULL,
    node text DEFAULT ''::text NOT NULL,
    channel text NOT NULL,
    model text DEFAULT ''::text NOT NULL,
    from_state text NOT NULL,
    to_state text NOT NULL,
    why text NOT NULL,
    actor text,
    detail text DEFAULT '{}'::text NOT NULL
);
ALTER TABLE public.channel_change ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.channel_change_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.channel_check (
    id text NOT NULL,
    asked_at_ms bigint NOT NULL,
    channel text NOT NULL
);
CREATE TABLE public.channel_check_answer (
    check_id text NOT NULL,
    node text NOT NULL,
    at_ms bigint NOT NULL,
    is_complete integer NOT NULL,
    detail text NOT NULL
);
CREATE TABLE public.channel_health (
    channel text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    mode text NOT NULL COLLATE pg_catalog."C",
    why text NOT NULL COLLATE pg_catalog."C",
    since_ms bigint NOT NULL,
    saved_at_ms bigint NOT NULL,
    detail text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.channel_state (
    node text NOT NULL,
    channel text NOT NULL,
    model text NOT NULL,
    mode text NOT NULL,
    why text NOT NULL,
    since_ms bigint NOT NULL,
    published_at_ms bigint NOT NULL,
    detail text NOT NULL
);
CREATE TABLE public.code (
    id text NOT NULL COLLATE pg_catalog."C",
    batch_id text NOT NULL COLLATE pg_catalog."C",
    secret_hash text NOT NULL COLLATE pg_catalog."C",
    head text NOT NULL COLLATE pg_catalog."C",
    account_id text COLLATE pg_catalog."C",
    redeemed_at_ms bigint,
    revoked_at_ms bigint,
    CONSTRAINT code_check CHECK (((account_id IS NULL) = (redeemed_at_ms IS NULL))),
    CONSTRAINT code_check1 CHECK (((redeemed_at_ms IS NULL) OR (revoked_at_ms IS NULL)))
);
CREATE TABLE public.code_batch (
    id text NOT NULL COLLATE pg_catalog."C",
    amount_picos bigint NOT NULL,
    code_count integer NOT NULL,
    note text NOT NULL,
    actor text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint,
    CONSTRAINT code_batch_amount_picos_check CHECK ((amount_picos >= 0)),
    CONSTRAINT code_batch_code_count_check CHECK ((code_count > 0))
);
CREATE TABLE public.entry (
    sequence bigint NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    reference text NOT NULL COLLATE pg_catalog."C",
    amount_picos bigint NOT NULL,
    input_hash text COLLATE pg_catalog."C",
    note text COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    bill_to text,
    tax_thousandths integer,
    CONSTRAINT entry_kind_check CHECK ((kind = ANY (ARRAY['credit'::text, 'charge'::text, 'adjustment'::text, 'refund'::text])))
);
ALTER TABLE public.entry ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.entry_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.exchange (
    account_id text NOT NULL COLLATE pg_catalog."C",
    exchange_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    is_stream integer NOT NULL,
    channel text COLLATE pg_catalog."C",
    started_at_ms bigint NOT NULL,
    ended_at_ms bigint NOT NULL,
    ending text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    attempt_count integer NOT NULL,
    amount_picos bigint NOT NULL,
    usage text COLLATE pg_catalog."C",
    marks text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    price_lines text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    vendor_request_id text COLLATE pg_catalog."C",
    operator_cost_picos bigint DEFAULT 0 NOT NULL,
    first_event_ms bigint,
    attempts text DEFAULT '[]'::text NOT NULL COLLATE pg_catalog."C",
    code text COLLATE pg_catalog."C",
    client text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    own_cost_picos bigint DEFAULT 0 NOT NULL,
    is_own_cost_known integer DEFAULT 0 NOT NULL,
    waived_picos bigint DEFAULT 0 NOT NULL,
    asked_model text COLLATE pg_catalog."C",
    label text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    finish_reason text COLLATE pg_catalog."C",
    CONSTRAINT exchange_amount_picos_check CHECK ((amount_picos >= 0)),
    CONSTRAINT exchange_own_cost_picos_check CHECK ((own_cost_picos >= 0)),
    CONSTRAINT exchange_waived_picos_check CHECK ((waived_picos >= 0))
)
PARTITION BY RANGE (exchange_id);
CREATE TABLE public.exchange_2026_11 (
    account_id text NOT NULL COLLATE pg_catalog."C",
    exchange_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    is_stream integer NOT NULL,
    channel text COLLATE pg_catalog."C",
    started_at_ms bigint NOT NULL,
    ended_at_ms bigint NOT NULL,
    ending text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    attempt_count integer NOT NULL,
    amount_picos bigint NOT NULL,
    usage text COLLATE pg_catalog."C",
    marks text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    price_lines text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    vendor_request_id text COLLATE pg_catalog."C",
    operator_cost_picos bigint DEFAULT 0 NOT NULL,
    first_event_ms bigint,
    attempts text DEFAULT '[]'::text NOT NULL COLLATE pg_catalog."C",
    code text COLLATE pg_catalog."C",
    client text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    own_cost_picos bigint DEFAULT 0 NOT NULL,
    is_own_cost_known integer DEFAULT 0 NOT NULL,
    waived_picos bigint DEFAULT 0 NOT NULL,
    asked_model text COLLATE pg_catalog."C",
    label text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    finish_reason text COLLATE pg_catalog."C",
    CONSTRAINT exchange_amount_picos_check CHECK ((amount_picos >= 0)),
    CONSTRAINT exchange_own_cost_picos_check CHECK ((own_cost_picos >= 0)),
    CONSTRAINT exchange_waived_picos_check CHECK ((waived_picos >= 0))
);
CREATE TABLE public.exchange_2026_12 (
    account_id text NOT NULL COLLATE pg_catalog."C",
    exchange_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    is_stream integer NOT NULL,
    channel text COLLATE pg_catalog."C",
    started_at_ms bigint NOT NULL,
    ended_at_ms bigint NOT NULL,
    ending text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    attempt_count integer NOT NULL,
    amount_picos bigint NOT NULL,
    usage text COLLATE pg_catalog."C",
    marks text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    price_lines text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    vendor_request_id text COLLATE pg_catalog."C",
    operator_cost_picos bigint DEFAULT 0 NOT NULL,
    first_event_ms bigint,
    attempts text DEFAULT '[]'::text NOT NULL COLLATE pg_catalog."C",
    code text COLLATE pg_catalog."C",
    client text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    own_cost_picos bigint DEFAULT 0 NOT NULL,
    is_own_cost_known integer DEFAULT 0 NOT NULL,
    waived_picos bigint DEFAULT 0 NOT NULL,
    asked_model text COLLATE pg_catalog."C",
    label text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    finish_reason text COLLATE pg_catalog."C",
    CONSTRAINT exchange_amount_picos_check CHECK ((amount_picos >= 0)),
    CONSTRAINT exchange_own_cost_picos_check CHECK ((own_cost_picos >= 0)),
    CONSTRAINT exchange_waived_picos_check CHECK ((waived_picos >= 0))
);
CREATE TABLE public.exchange_cut (
    cut_ms bigint NOT NULL,
    decided_at_ms bigint NOT NULL
);
CREATE TABLE public.exchange_default (
    account_id text NOT NULL COLLATE pg_catalog."C",
    exchange_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    is_stream integer NOT NULL,
    channel text COLLATE pg_catalog."C",
    started_at_ms bigint NOT NULL,
    ended_at_ms bigint NOT NULL,
    ending text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    attempt_count integer NOT NULL,
    amount_picos bigint NOT NULL,
    usage text COLLATE pg_catalog."C",
    marks text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    price_lines text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    vendor_request_id text COLLATE pg_catalog."C",
    operator_cost_picos bigint DEFAULT 0 NOT NULL,
    first_event_ms bigint,
    attempts text DEFAULT '[]'::text NOT NULL COLLATE pg_catalog."C",
    code text COLLATE pg_catalog."C",
    client text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    own_cost_picos bigint DEFAULT 0 NOT NULL,
    is_own_cost_known integer DEFAULT 0 NOT NULL,
    waived_picos bigint DEFAULT 0 NOT NULL,
    asked_model text COLLATE pg_catalog."C",
    label text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    finish_reason text COLLATE pg_catalog."C",
    CONSTRAINT exchange_amount_picos_check CHECK ((amount_picos >= 0)),
    CONSTRAINT exchange_own_cost_picos_check CHECK ((own_cost_picos >= 0)),
    CONSTRAINT exchange_waived_picos_check CHECK ((waived_picos >= 0))
);
CREATE TABLE public.expired_hold (
    account_id text NOT NULL COLLATE pg_catalog."C",
    exchange_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    amount_picos bigint NOT NULL,
    boot bigint NOT NULL,
    placed_at_ms bigint NOT NULL,
    expired_at_ms bigint NOT NULL
);
CREATE TABLE public.former_credential (
    channel text NOT NULL COLLATE pg_catalog."C",
    credential text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    replaced_at_ms bigint NOT NULL
);
CREATE TABLE public.free_exchange (
    account_id text NOT NULL COLLATE pg_catalog."C",
    exchange_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    operation text COLLATE pg_catalog."C",
    channel text COLLATE pg_catalog."C",
    started_at_ms bigint NOT NULL,
    ended_at_ms bigint NOT NULL,
    ending text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    code text COLLATE pg_catalog."C",
    vendor_request_id text COLLATE pg_catalog."C",
    attempts text DEFAULT '[]'::text NOT NULL COLLATE pg_catalog."C",
    client text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    stands_for bigint DEFAULT 1 NOT NULL,
    asked_model text COLLATE pg_catalog."C",
    label text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.gateway_node (
    id text NOT NULL,
    name text NOT NULL,
    region text NOT NULL,
    version text NOT NULL COLLATE pg_catalog."C",
    commit_id text NOT NULL COLLATE pg_catalog."C",
    is_draining bigint DEFAULT 0 NOT NULL,
    unlisted_proxies text DEFAULT '[]'::text NOT NULL,
    started_at_ms bigint NOT NULL,
    seen_at_ms bigint NOT NULL,
    ended_at_ms bigint
);
CREATE TABLE public.hold (
    account_id text NOT NULL COLLATE pg_catalog."C",
    exchange_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    amount_picos bigint NOT NULL,
    is_uncovered boolean NOT NULL,
    boot bigint NOT NULL,
    placed_at_ms bigint NOT NULL,
    CONSTRAINT hold_amount_picos_check CHECK ((amount_picos >= 0))
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');
CREATE TABLE public.idempotency_key (
    token_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    request_hash text NOT NULL COLLATE pg_catalog."C",
    answer text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL
);
CREATE TABLE public.key (
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    role text COLLATE pg_catalog."C",
    account_id text COLLATE pg_catalog."C",
    member_id text COLLATE pg_catalog."C",
    name text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    head text NOT NULL COLLATE pg_catalog."C",
    secret_hash text NOT NULL COLLATE pg_catalog."C",
    allowed_models text COLLATE pg_catalog."C",
    ip_ranges text COLLATE pg_catalog."C",
    daily_limit_picos bigint DEFAULT 0 NOT NULL,
    monthly_limit_picos bigint DEFAULT 0 NOT NULL,
    total_limit_picos bigint DEFAULT 0 NOT NULL,
    rpm integer DEFAULT 0 NOT NULL,
    tokens_per_minute bigint DEFAULT 0 NOT NULL,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint,
    revoked_at_ms bigint,
    CONSTRAINT key_check CHECK (((kind = 'admin'::text) = (account_id IS NULL))),
    CONSTRAINT key_daily_limit_picos_check CHECK ((daily_limit_picos >= 0)),
    CONSTRAINT key_kind_check CHECK ((kind = ANY (ARRAY['client'::text, 'reader'::text, 'admin'::text]))),
    CONSTRAINT key_monthly_limit_picos_check CHECK ((monthly_limit_picos >= 0)),
    CONSTRAINT key_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'owner'::text, 'credits'::text]))),
    CONSTRAINT key_rpm_check CHECK ((rpm >= 0)),
    CONSTRAINT key_tokens_per_minute_check CHECK ((tokens_per_minute >= 0)),
    CONSTRAINT key_total_limit_picos_check CHECK ((total_limit_picos >= 0))
);
CREATE TABLE public.key_request_window (
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    allowance text NOT NULL COLLATE pg_catalog."C",
    at_ms bigint NOT NULL,
    first_number bigint NOT NULL,
    last_number bigint NOT NULL,
    CONSTRAINT key_request_window_allowance_check CHECK ((allowance = ANY (ARRAY['requests'::text, 'free_requests'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');
CREATE TABLE public.key_use (
    key_id text NOT NULL COLLATE pg_catalog."C",
    last_used_at_ms bigint NOT NULL
);
CREATE TABLE public.label_day (
    account_id text NOT NULL COLLATE pg_catalog."C",
    day text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.ledger_audit (
    sequence bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    scope text NOT NULL COLLATE pg_catalog."C",
    result text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    started_at_ms bigint NOT NULL,
    duration_ms bigint NOT NULL,
    exchanges_from_ms bigint NOT NULL,
    counts text NOT NULL COLLATE pg_catalog."C",
    differences text NOT NULL COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    CONSTRAINT ledger_audit_result_check CHECK ((result = ANY (ARRAY['passed'::text, 'failed'::text, 'not_run'::text]))),
    CONSTRAINT ledger_audit_scope_check CHECK ((scope = ANY (ARRAY['full'::text, 'recent'::text])))
);
ALTER TABLE public.ledger_audit ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ledger_audit_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.limit_step (
    account_id text NOT NULL COLLATE pg_catalog."C",
    limit_of text NOT NULL COLLATE pg_catalog."C",
    period text NOT NULL COLLATE pg_catalog."C",
    limit_picos bigint NOT NULL,
    step integer NOT NULL,
    CONSTRAINT limit_step_limit_of_check CHECK ((limit_of = ANY (ARRAY['day'::text, 'month'::text])))
);
CREATE TABLE public.member (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    invited_at_ms bigint NOT NULL,
    signed_in_at_ms bigint,
    removed_at_ms bigint,
    CONSTRAINT member_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text])))
);
CREATE TABLE public.member_session (
    id_hash text NOT NULL COLLATE pg_catalog."C",
    member_id text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    last_used_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL
);
CREATE TABLE public.model (
    id text NOT NULL COLLATE pg_catalog."C",
    vendor text NOT NULL COLLATE pg_catalog."C",
    operations text,
    max_output_tokens bigint,
    max_input_tokens bigint,
    image_tokens bigint,
    first_event_timeout_ms bigint,
    ping_timeout_ms bigint,
    also text,
    dated integer,
    thinks integer,
    created_at_ms bigint NOT NULL,
    retired_at_ms bigint,
    CONSTRAINT model_first_event_timeout_ms_check CHECK ((first_event_timeout_ms > 0)),
    CONSTRAINT model_image_tokens_check CHECK ((image_tokens > 0)),
    CONSTRAINT model_max_input_tokens_check CHECK ((max_input_tokens > 0)),
    CONSTRAINT model_ping_timeout_ms_check CHECK ((ping_timeout_ms > 0))
);
CREATE SEQUENCE public.node_boot
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.node (
    boot bigint DEFAULT nextval('public.node_boot'::regclass) NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    started_at_ms bigint NOT NULL,
    lease_until_ms bigint NOT NULL
);
CREATE TABLE public.node_lease (
    task text NOT NULL,
    node text NOT NULL,
    expires_at_ms bigint NOT NULL
);
CREATE TABLE public.note (
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    actor text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    CONSTRAINT note_kind_check CHECK ((kind = ANY (ARRAY['account'::text, 'key'::text, 'channel'::text])))
);
CREATE TABLE public.operator_action (
    sequence bigint NOT NULL,
    at_ms bigint NOT NULL,
    actor text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    detail text DEFAULT '{}'::text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE public.operator_action ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.operator_action_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.operator_cost (
    sequence bigint NOT NULL,
    id text NOT NULL,
    at_ms bigint NOT NULL,
    node text NOT NULL,
    channel text NOT NULL,
    model text NOT NULL,
    kind text NOT NULL,
    usage text NOT NULL,
    amount_picos bigint NOT NULL,
    is_own_cost_known integer DEFAULT 0 NOT NULL,
    CONSTRAINT operator_cost_amount_picos_check CHECK ((amount_picos >= 0)),
    CONSTRAINT operator_cost_kind_check CHECK ((kind = 'check'::text))
);
ALTER TABLE public.operator_cost ALTER COLUMN sequence ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.operator_cost_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.payment (
    id text NOT NULL COLLATE pg_catalog."C",
    account text COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    paid_cents bigint NOT NULL,
    refunded_cents bigint NOT NULL,
    taken_back_cents bigint NOT NULL,
    disputes text NOT NULL,
    problem text COLLATE pg_catalog."C",
    changed_at_ms bigint NOT NULL,
    CONSTRAINT payment_problem_check CHECK ((problem = ANY (ARRAY['unknown_account'::text, 'foreign_currency'::text, 'not_bookable'::text, 'suspended'::text])))
);
CREATE TABLE public.price (
    model text NOT NULL COLLATE pg_catalog."C",
    valid_from_ms bigint NOT NULL,
    prices text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.reconciliation (
    id text NOT NULL COLLATE pg_catalog."C",
    at_ms bigint NOT NULL,
    actor text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    from_ms bigint NOT NULL,
    to_ms bigint NOT NULL,
    files text NOT NULL,
    vendor_picos bigint,
    expected_picos bigint NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    accepted_by text COLLATE pg_catalog."C",
    accepted_at_ms bigint
);
CREATE SEQUENCE public.recorded_requests
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.report_day (
    day text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    charged_requests bigint NOT NULL,
    errors bigint NOT NULL,
    failovers bigint NOT NULL,
    known_cost_requests bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    prompt_tokens bigint NOT NULL,
    first_event_le_100 bigint NOT NULL,
    first_event_le_200 bigint NOT NULL,
    first_event_le_300 bigint NOT NULL,
    first_event_le_500 bigint NOT NULL,
    first_event_le_750 bigint NOT NULL,
    first_event_le_1000 bigint NOT NULL,
    first_event_le_1500 bigint NOT NULL,
    first_event_le_2000 bigint NOT NULL,
    first_event_le_3000 bigint NOT NULL,
    first_event_le_5000 bigint NOT NULL,
    first_event_le_7500 bigint NOT NULL,
    first_event_le_10000 bigint NOT NULL,
    first_event_le_20000 bigint NOT NULL,
    first_event_le_60000 bigint NOT NULL,
    first_event_above bigint NOT NULL,
    revenue_picos bigint NOT NULL,
    own_cost_picos bigint NOT NULL,
    lost_cost_picos bigint NOT NULL,
    refunded_picos bigint NOT NULL,
    unknown_cost_revenue_picos bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.report_moment (
    day text NOT NULL COLLATE pg_catalog."C",
    minute bigint NOT NULL,
    sums text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.request_window (
    account_id text NOT NULL COLLATE pg_catalog."C",
    at_ms bigint NOT NULL,
    first_number bigint NOT NULL,
    last_number bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');
CREATE TABLE public.revision (
    area text NOT NULL COLLATE pg_catalog."C",
    number bigint DEFAULT 0 NOT NULL,
    CONSTRAINT revision_area_check CHECK ((area = ANY (ARRAY['access'::text, 'accounts'::text, 'balances'::text, 'catalogue'::text])))
);
CREATE TABLE public.schemaversion (
    version bigint NOT NULL,
    name text NOT NULL,
    md5 text NOT NULL,
    run_at text NOT NULL
);
CREATE TABLE public.seal_mark (
    hour_ms bigint NOT NULL,
    through_sequence bigint NOT NULL
);
CREATE TABLE public.sealed_entry (
    account_id text NOT NULL COLLATE pg_catalog."C",
    place bigint NOT NULL,
    sequence bigint NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C",
    bill_hash text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT sealed_entry_place_check CHECK ((place > 0))
);
CREATE TABLE public.sealed_head (
    account_id text NOT NULL COLLATE pg_catalog."C",
    place bigint NOT NULL,
    hour_ms bigint NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C",
    sum_picos bigint NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    signature text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.session (
    id_hash text NOT NULL COLLATE pg_catalog."C",
    token_id text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    last_used_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL
);
CREATE TABLE public.sign_in_code (
    code_hash text NOT NULL COLLATE pg_catalog."C",
    token_id text NOT NULL COLLATE pg_catalog."C",
    expires_at_ms bigint NOT NULL
);
CREATE TABLE public.sign_in_link (
    code_hash text NOT NULL COLLATE pg_catalog."C",
    browser_hash text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    domain text NOT NULL COLLATE pg_catalog."C",
    expires_at_ms bigint NOT NULL,
    ended_at_ms bigint,
    is_sign_up integer DEFAULT 0 NOT NULL,
    invitation_hash text COLLATE pg_catalog."C"
);
CREATE TABLE public.signing_key (
    id text NOT NULL COLLATE pg_catalog."C",
    public_key text NOT NULL COLLATE pg_catalog."C",
    private_key text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    signed_by text COLLATE pg_catalog."C",
    signature text COLLATE pg_catalog."C"
);
CREATE TABLE public.stored_function (
    name text NOT NULL COLLATE pg_catalog."C",
    head_md5 text NOT NULL,
    md5 text NOT NULL
);
CREATE TABLE public.token_minute (
    account_id text NOT NULL COLLATE pg_catalog."C",
    second bigint NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    tokens bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');
CREATE TABLE public.unclean_stop (
    node text NOT NULL,
    name text NOT NULL,
    started_at_ms bigint NOT NULL,
    seen_at_ms bigint NOT NULL,
    found_at_ms bigint NOT NULL
);
CREATE TABLE public.usage_key_month (
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    month text NOT NULL COLLATE pg_catalog."C",
    cost_picos bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.usage_month (
    account_id text NOT NULL COLLATE pg_catalog."C",
    month text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_tokens bigint NOT NULL,
    cost_picos bigint NOT NULL
);
CREATE TABLE public.vendor (
    name text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL COLLATE pg_catalog."C",
    credential text NOT NULL COLLATE pg_catalog."C",
    version_header text COLLATE pg_catalog."C",
    default_version text COLLATE pg_catalog."C",
    require_max_tokens integer DEFAULT 1 NOT NULL,
    allowed_features text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    stored_responses text DEFAULT 'own'::text NOT NULL,
    retired_at_ms bigint,
    CONSTRAINT vendor_credential_check CHECK ((credential = ANY (ARRAY['x-api-key'::text, 'bearer'::text, 'api-key'::text]))),
    CONSTRAINT vendor_format_check CHECK ((format = ANY (ARRAY['messages'::text, 'chat'::text]))),
    CONSTRAINT vendor_stored_responses_check CHECK ((stored_responses = ANY (ARRAY['own'::text, 'refuse'::text])))
);
ALTER TABLE ONLY public.exchange ATTACH PARTITION public.exchange_2026_11 FOR VALUES FROM ('ex_01m6a6ft00') TO ('ex_01m8qedc00');
ALTER TABLE ONLY public.exchange ATTACH PARTITION public.exchange_2026_12 FOR VALUES FROM ('ex_01m8qedc00') TO ('ex_01mb78qn00');
ALTER TABLE ONLY public.exchange ATTACH PARTITION public.exchange_default DEFAULT;
INSERT INTO public.account VALUES ('acc_01m8ex0f5q08x5fmj16fz0g7na', 'account-2', 'active', NULL, '', 'en', '', '', 1000000, 1000000000000, 0, 60, 1, 0, 0, 0, NULL, 1, 0, 10000000000000, 1795796516023, NULL, 0);
INSERT INTO public.account VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'kept', 'active', NULL, '', 'en', '', '', 1000000, 0, 50000000000000, 0, 1, 0, 0, 0, NULL, 1, 0, 99999187000000, 1795796514391, NULL, 7794000000);
INSERT INTO public.answer_state VALUES ('beta', 'resp_2e12d2361bea6930207fa6d1sandbox0000000002001', 'response', 'acc_01m8ex0djq2eas38mb0av2dcj0', 'beta-main', 'chat-1', 'resp_2e12d2361bea6930207fa6d1sandbox0000000002001', 2, 23, 1798388515831);
INSERT INTO public.answer_state VALUES ('beta', 'msg_2e12d2361bea6930207fa6d1sandbox0000000002000', 'item', 'acc_01m8ex0djq2eas38mb0av2dcj0', 'beta-main', 'chat-1', 'resp_2e12d2361bea6930207fa6d1sandbox0000000002001', 2, 23, 1798388515831);
INSERT INTO public.channel VALUES ('alpha-main', 'alpha', 'http://127.0.0.1:37001/alpha-main', 'sealed:v1.351e4cf1.VI53gnzDwSIfQGdrGAp6bKs92twexdLlii0eqaaDkicDh5-dmc9UFCg6aOh_TDhc-J_G3CbeJELs', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"large-1":null,"small-1":null}', 0, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796514527, NULL);
INSERT INTO public.channel VALUES ('alpha-reserve', 'alpha', 'http://127.0.0.1:37001/alpha-reserve', 'sealed:v1.351e4cf1.Y1jaOiDUCzV7ZJOGp_5lq7dZV1LyiLByYZbcIvrJ1CK7bKJORwMIy4BI5UImbWcY6n7IicJNWYJsDXhZ', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"large-1":null,"small-1":null}', 1, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796514527, NULL);
INSERT INTO public.channel VALUES ('beta-main', 'beta', 'http://127.0.0.1:37001/beta-main', 'sealed:v1.351e4cf1.owbsmnrW2_x1ZQ1HXRaSSOtc5Ghk0jTOdocsa3TWxrYZYil_W3XUWBoTG3XCcp62auEAwoWby6o', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"chat-1":null,"chat-mini-1":null,"embed-1":null}', 0, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796514527, NULL);
INSERT INTO public.channel VALUES ('beta-reserve', 'beta', 'http://127.0.0.1:37001/beta-reserve', 'sealed:v1.351e4cf1._oAUVogeUPlFcj97O94Pu5PUguCxs1XxFYRBkZzPeYqY134qMxG4KxgFGdwU0ILjjHGK2wTmUhzQ9QI', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"chat-1":null,"chat-mini-1":null,"embed-1":null}', 1, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796514527, NULL);
INSERT INTO public.channel_health VALUES ('alpha-main', 'large-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('alpha-main', 'small-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('alpha-reserve', 'large-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('alpha-reserve', 'small-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('beta-main', 'chat-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('beta-main', 'chat-mini-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('beta-main', 'embed-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('beta-reserve', 'chat-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('beta-reserve', 'chat-mini-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_health VALUES ('beta-reserve', 'embed-1', 'on', 'start', 1795796515240, 1795796515286, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'alpha-main', 'small-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"alpha","rank":0,"isUsable":true,"share":1,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'beta-main', 'chat-mini-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"beta","rank":0,"isUsable":true,"share":1,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'beta-main', 'embed-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"beta","rank":0,"isUsable":true,"share":1,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'alpha-reserve', 'large-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"alpha","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'alpha-reserve', 'small-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"alpha","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'beta-reserve', 'chat-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"beta","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'beta-reserve', 'chat-mini-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"beta","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'beta-reserve', 'embed-1', 'on', 'start', 1795796515240, 1795796515253, '{"vendor":"beta","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'alpha-main', 'large-1', 'on', 'start', 1795796515240, 1795796516213, '{"vendor":"alpha","rank":0,"isUsable":true,"share":1,"lastOkAtMs":1795796515585,"running":0,"firstEventMs":{"p50":20,"p95":20},"waits":[{"wait":"head","asksReasoning":false,"answers":1,"longestMs":3.172199000000546},{"wait":"output","asksReasoning":false,"answers":1,"longestMs":17.243178000000626}],"failures":[],"recentAttempts":{"ended":1,"failed":0}}');
INSERT INTO public.channel_state VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'beta-main', 'chat-1', 'on', 'start', 1795796515240, 1795796516213, '{"vendor":"beta","rank":0,"isUsable":true,"share":1,"lastOkAtMs":1795796515912,"running":0,"firstEventMs":{"p50":15,"p95":15},"waits":[{"wait":"head","asksReasoning":false,"answers":1,"longestMs":13.846439000000828},{"wait":"output","asksReasoning":false,"answers":1,"longestMs":1.1827269999994314}],"failures":[],"recentAttempts":{"ended":3,"failed":0}}');
INSERT INTO public.code VALUES ('code_01m8ex0ftyq7v9k5954hz4618z', 'batch_01m8ex0ftytt5fqv5zfee0tx2q', 'f8d989243ddc8339dc025abfecd8f99219840f5a601907031b6d156b9d9cc75f', 'tc_ZtwQ…', NULL, NULL, NULL);
INSERT INTO public.code VALUES ('code_01m8ex0ftycc2w6bc130bfzw13', 'batch_01m8ex0ftytt5fqv5zfee0tx2q', '112200eb42f1d6d65f0c67a5f97a589b8a6a9ca13cff699d57ab7afe59ec693e', 'tc_C7Nu…', NULL, NULL, NULL);
INSERT INTO public.code_batch VALUES ('batch_01m8ex0ftytt5fqv5zfee0tx2q', 10000000000000, 2, '', 'key_01m8ex0fkz4zt6naj9cnepwg4w', 1795796516702, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (1, 'acc_01m8ex0djq2eas38mb0av2dcj0', 'credit', 'opening-balance', 100000000000000, '5b0e2a08c51bf6e9a0b034aca3cb5d9dd9c7ed446c3c2f05d4e41075a6cd258a', NULL, 1795796514439, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (2, 'acc_01m8ex0djq2eas38mb0av2dcj0', 'charge', 'ex_01m8ex0ekryy78wy7npbnj9dev', -351000000, NULL, NULL, 1795796515585, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (3, 'acc_01m8ex0djq2eas38mb0av2dcj0', 'charge', 'ex_01m8ex0evq9bt15qe3r1p23g7h', -234000000, NULL, NULL, 1795796515733, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (4, 'acc_01m8ex0djq2eas38mb0av2dcj0', 'charge', 'ex_01m8ex0eykfewtq2ey6fv9t4kk', -234000000, NULL, NULL, 1795796515831, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (5, 'acc_01m8ex0djq2eas38mb0av2dcj0', 'charge', 'ex_01m8ex0f14esknfpz5dknpwpr4', -4000000, NULL, NULL, 1795796515912, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (6, 'acc_01m8ex0f5q08x5fmj16fz0g7na', 'credit', 'opening-balance', 5000000000000, '276bd1b308a6c7ecc68faa9c73a84ffb0f72b6bf437f9ca11022a1236f98654b', NULL, 1795796516047, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (7, 'acc_01m8ex0f5q08x5fmj16fz0g7na', 'credit', 'bank-1', 2000000000000, '4ea536af182478f4eccaf98d471e37cc3c9e2fdc2583bc3baf6d400a83a740c6', NULL, 1795796516212, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (8, 'acc_01m8ex0djq2eas38mb0av2dcj0', 'refund', 'refund:ex_01m8ex0ekryy78wy7npbnj9dev', 10000000, 'e9a7e7b072f66d33dd52205e43f7cc1ba343b6e191938414a89310527a97d023', NULL, 1795796516311, NULL, NULL);
INSERT INTO public.entry OVERRIDING SYSTEM VALUE VALUES (9, 'acc_01m8ex0f5q08x5fmj16fz0g7na', 'credit', 'bank-2', 3000000000000, '99ed23e9b856fb75e33eebcb30154aeb8fc8bbe65dff72219bc6600c5b28e8cc', NULL, 1795796520028, NULL, NULL);
INSERT INTO public.exchange_2026_11 VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'ex_01m8ex0ekryy78wy7npbnj9dev', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'alpha', 'large-1', 'messages.create', 1, 'alpha-main', 1795796515448, 1795796515585, 'completed', 200, 1, 351000000, '[[2,23],["large-1",{"input":2,"output":23},{"tier":"standard","speed":"standard","geo":"global"}]]', '', '{"parts":[{"model":"large-1","lines":[["input",2,"3000000"],["output",23,"15000000"]]}]}', 'req_011sandbox000000000000', 0, 135, '[[115,20,22]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', 'end_turn');
INSERT INTO public.exchange_2026_11 VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'ex_01m8ex0evq9bt15qe3r1p23g7h', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'beta', 'chat-1', 'chat.completions.create', 1, 'beta-main', 1795796515703, 1795796515733, 'completed', 200, 1, 234000000, '[[2,23],["chat-1",{"input":2,"output":23},{"tier":"default"}]]', '', '{"parts":[{"model":"chat-1","lines":[["input",2,"2000000"],["output",23,"10000000"]]}]}', 'req_sandbox000000000001', 0, 29, '[[14,15,16]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', 'stop');
INSERT INTO public.exchange_2026_11 VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'ex_01m8ex0eykfewtq2ey6fv9t4kk', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'beta', 'chat-1', 'responses.create', 0, 'beta-main', 1795796515795, 1795796515831, 'completed', 200, 1, 234000000, '[[2,23],["chat-1",{"input":2,"output":23},{"tier":"default"}]]', '', '{"parts":[{"model":"chat-1","lines":[["input",2,"2000000"],["output",23,"10000000"]]}]}', 'req_sandbox000000000002', 0, 19, '[[16,2,3]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', NULL);
INSERT INTO public.exchange_2026_11 VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'ex_01m8ex0f14esknfpz5dknpwpr4', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'beta', 'chat-1', 'embeddings.create', 0, 'beta-main', 1795796515876, 1795796515912, 'completed', 200, 1, 4000000, '[[2,0],["chat-1",{"input":2,"output":0}]]', '', '{"parts":[{"model":"chat-1","lines":[["input",2,"2000000"]]}]}', 'req_sandbox000000000003', 0, 35, '[[18,15,16]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', NULL);
INSERT INTO public.free_exchange VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'ex_01m8ex0f368gxqfzvx2j9zgt76', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'alpha', NULL, 'messages.create', NULL, 1795796515942, 1795796515964, 'not_admitted', 404, 'relay.model_unknown', NULL, '[]', '', 'ipv4', 1, NULL, '');
INSERT INTO public.gateway_node VALUES ('node_01m8ex0e6yk7mdzfm8znw5248b', 'kept', 'local', '0.1.0', 'db2f2468', 0, '[]', 1795796515253, 1795796516213, NULL);
INSERT INTO public.hold VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'ex_01m8ex0k3v51be1y84pzh60mmh', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 7794000000, false, 1, 1795796520070);
INSERT INTO public.key VALUES ('key_01m8ex0e0bgy4ez9dbw2v2tc23', 'client', NULL, 'acc_01m8ex0djq2eas38mb0av2dcj0', NULL, 'later', 'cr_SnaA…', '0ee9972ea016d102351d2584c375eb8ffd552b81f94c6c2ca3cd67196e917d72', NULL, NULL, 0, 0, 0, 0, 0, 1795796514827, NULL, NULL);
INSERT INTO public.key VALUES ('key_01m8ex0f8jfwetw66dqkhvza3y', 'client', NULL, 'acc_01m8ex0f5q08x5fmj16fz0g7na', NULL, 'test', 'cr_7T1a…', 'a06ba5b08f817c48e0fab3554e00b68d19d3e41602b15550f5936e338910ab85', NULL, NULL, 0, 0, 0, 0, 0, 1795796516114, NULL, NULL);
INSERT INTO public.key VALUES ('key_01m8ex0f9qa3rkb8fbb1t4k3g2', 'reader', NULL, 'acc_01m8ex0f5q08x5fmj16fz0g7na', NULL, 'test', 'ro_8mE8…', '6eaeec6969d7bbddd1fa439b6ade5d1798572c903b222832115af8bb524292ef', NULL, NULL, 0, 0, 0, 0, 0, 1795796516151, NULL, NULL);
INSERT INTO public.key VALUES ('key_01m8ex0ffeyd4gmhz398mmwcqm', 'client', NULL, 'acc_01m8ex0f5q08x5fmj16fz0g7na', NULL, 'old', 'cr_j9q2…', '51720bc16ba79d6d13db7a66b377acfb519c7f60947f9157f72b803728e0de56', NULL, NULL, 0, 0, 0, 0, 0, 1795796516334, NULL, 1795796516355);
INSERT INTO public.key VALUES ('key_01m8ex0fkz4zt6naj9cnepwg4w', 'admin', 'owner', NULL, NULL, 'kept', 'ad_aQZO…', 'edbe2ca4ebdefd3cfce20f3ecc1b94f360dd6519d07f6d6a0e51bb2906fe498b', NULL, NULL, 0, 0, 0, 0, 0, 1795796516479, NULL, NULL);
INSERT INTO public.ledger_audit OVERRIDING SYSTEM VALUE VALUES (1, 'aud_01m8ex0g2z1ceg5v0sh5vg5kxg', 'full', 'passed', 'key_01m8ex0fkz4zt6naj9cnepwg4w', 1795796516959, 3021, 0, '{"accounts":2,"entries":8,"exchanges":4,"charges":4,"differences":0}', '[]', NULL);
INSERT INTO public.model VALUES ('large-1', 'alpha', NULL, 8192, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796514527, NULL);
INSERT INTO public.model VALUES ('small-1', 'alpha', NULL, 8192, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796514527, NULL);
INSERT INTO public.model VALUES ('chat-1', 'beta', NULL, 16384, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796514527, NULL);
INSERT INTO public.model VALUES ('chat-mini-1', 'beta', NULL, 16384, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796514527, NULL);
INSERT INTO public.model VALUES ('embed-1', 'beta', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795796514527, NULL);
INSERT INTO public.node VALUES (1, 'kept', 1795796515056, 1795796545181);
INSERT INTO public.node_lease VALUES ('channel_checks', 'node_01m8ex0e6yk7mdzfm8znw5248b', 1795796531213);
INSERT INTO public.node_lease VALUES ('alerts', 'node_01m8ex0e6yk7mdzfm8znw5248b', 1795796531213);
INSERT INTO public.node_lease VALUES ('seals', 'node_01m8ex0e6yk7mdzfm8znw5248b', 1795796531213);
INSERT INTO public.note VALUES ('note_01m8ex0frnck4xnk7vdsgz7yd6', 'account', 'acc_01m8ex0djq2eas38mb0av2dcj0', 'Pays in advance.', 'key_01m8ex0fkz4zt6naj9cnepwg4w', 1795796516629);
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (1, 1795796514434, 'test', 'account.create', 'acc_01m8ex0djq2eas38mb0av2dcj0', '{"id":"acc_01m8ex0djq2eas38mb0av2dcj0","name":"kept","status":"active","balance_usd":"0","has_paid":false,"limits":{"credit_line_usd":"0","holds":null,"daily_usd":"0","monthly_usd":"50","rpm":0,"window_minutes":1,"tpm":0,"price_multiplier":1},"note":"","contact":"","language":"en","alert_below_usd":"0","bill_to":"","external_id":null,"created_at":"2026-11-27T16:21:54.391Z","closed_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (2, 1795796514454, 'test', 'account.credit', 'acc_01m8ex0djq2eas38mb0av2dcj0', '{"amount_usd":"100","reference":"opening-balance"}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (3, 1795796514735, 'test', 'catalogue.apply', 'catalogue', '{"diff":[{"action":"add","kind":"vendor","name":"alpha","changes":[{"field":"format","to":"messages"},{"field":"credential","to":"x-api-key"},{"field":"version_header","to":"anthropic-version"},{"field":"default_version","to":"2023-06-01"},{"field":"require_max_tokens","to":"true"},{"field":"allow","to":""},{"field":"stored_responses","to":"own"}]},{"action":"add","kind":"vendor","name":"beta","changes":[{"field":"format","to":"chat"},{"field":"credential","to":"bearer"},{"field":"require_max_tokens","to":"false"},{"field":"allow","to":""},{"field":"stored_responses","to":"own"}]},{"action":"add","kind":"model","name":"large-1","changes":[{"field":"vendor","to":"alpha"},{"field":"max_output_tokens","to":"8192"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"3"},{"field":"price.output","to":"15"},{"field":"price.cache_read","to":"0.3"},{"field":"price.cache_write_5m","to":"3.75"},{"field":"price.cache_write_1h","to":"6"}]},{"action":"add","kind":"model","name":"small-1","changes":[{"field":"vendor","to":"alpha"},{"field":"max_output_tokens","to":"8192"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"1"},{"field":"price.output","to":"5"},{"field":"price.cache_read","to":"0.1"},{"field":"price.cache_write_5m","to":"1.25"},{"field":"price.cache_write_1h","to":"2"}]},{"action":"add","kind":"model","name":"chat-1","changes":[{"field":"vendor","to":"beta"},{"field":"max_output_tokens","to":"16384"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"2"},{"field":"price.output","to":"10"},{"field":"price.cache_read","to":"0.2"}]},{"action":"add","kind":"model","name":"chat-mini-1","changes":[{"field":"vendor","to":"beta"},{"field":"max_output_tokens","to":"16384"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"0.1"},{"field":"price.output","to":"0.5"},{"field":"price.cache_read","to":"0.01"}]},{"action":"add","kind":"model","name":"embed-1","changes":[{"field":"vendor","to":"beta"},{"field":"price.input","to":"0.02"}]},{"action":"add","kind":"channel","name":"alpha-main","changes":[{"field":"vendor","to":"alpha"},{"field":"url","to":"http://127.0.0.1:37001/alpha-main"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"large-1, small-1"},{"field":"rank","to":"0"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]},{"action":"add","kind":"channel","name":"alpha-reserve","changes":[{"field":"vendor","to":"alpha"},{"field":"url","to":"http://127.0.0.1:37001/alpha-reserve"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"large-1, small-1"},{"field":"rank","to":"1"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]},{"action":"add","kind":"channel","name":"beta-main","changes":[{"field":"vendor","to":"beta"},{"field":"url","to":"http://127.0.0.1:37001/beta-main"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"chat-1, chat-mini-1, embed-1"},{"field":"rank","to":"0"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]},{"action":"add","kind":"channel","name":"beta-reserve","changes":[{"field":"vendor","to":"beta"},{"field":"url","to":"http://127.0.0.1:37001/beta-reserve"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"chat-1, chat-mini-1, embed-1"},{"field":"rank","to":"1"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]}]}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (4, 1795796514830, 'test', 'key.create', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', '{"id":"key_01m8ex0e0bgy4ez9dbw2v2tc23","kind":"client","account_id":"acc_01m8ex0djq2eas38mb0av2dcj0","member_id":null,"role":null,"head":"cr_SnaA…","state":"active","name":"later","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:54.827Z","revoked_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (5, 1795796516044, 'test', 'account.create', 'acc_01m8ex0f5q08x5fmj16fz0g7na', '{"id":"acc_01m8ex0f5q08x5fmj16fz0g7na","name":"account-2","status":"active","balance_usd":"0","has_paid":false,"limits":{"credit_line_usd":"0","holds":null,"daily_usd":"1","monthly_usd":"0","rpm":60,"window_minutes":1,"tpm":0,"price_multiplier":1},"note":"","contact":"","language":"en","alert_below_usd":"0","bill_to":"","external_id":null,"created_at":"2026-11-27T16:21:56.023Z","closed_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (6, 1795796516083, 'test', 'account.credit', 'acc_01m8ex0f5q08x5fmj16fz0g7na', '{"amount_usd":"5","reference":"opening-balance"}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (7, 1795796516128, 'test', 'key.create', 'key_01m8ex0f8jfwetw66dqkhvza3y', '{"id":"key_01m8ex0f8jfwetw66dqkhvza3y","kind":"client","account_id":"acc_01m8ex0f5q08x5fmj16fz0g7na","member_id":null,"role":null,"head":"cr_7T1a…","state":"active","name":"test","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:56.114Z","revoked_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (8, 1795796516177, 'test', 'key.create', 'key_01m8ex0f9qa3rkb8fbb1t4k3g2', '{"id":"key_01m8ex0f9qa3rkb8fbb1t4k3g2","kind":"reader","account_id":"acc_01m8ex0f5q08x5fmj16fz0g7na","member_id":null,"role":null,"head":"ro_8mE8…","state":"active","name":"test","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:56.151Z","revoked_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (9, 1795796516279, 'test', 'account.credit', 'acc_01m8ex0f5q08x5fmj16fz0g7na', '{"amount_usd":"2","reference":"bank-1"}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (10, 1795796516324, 'test', 'account.refund', 'acc_01m8ex0djq2eas38mb0av2dcj0', '{"request_id":"ex_01m8ex0ekryy78wy7npbnj9dev","charge_usd":"0.000351","amount_usd":"0.00001","reason":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (11, 1795796516336, 'test', 'key.create', 'key_01m8ex0ffeyd4gmhz398mmwcqm', '{"id":"key_01m8ex0ffeyd4gmhz398mmwcqm","kind":"client","account_id":"acc_01m8ex0f5q08x5fmj16fz0g7na","member_id":null,"role":null,"head":"cr_j9q2…","state":"active","name":"old","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:56.334Z","revoked_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (12, 1795796516365, 'test', 'key.revoke', 'key_01m8ex0ffeyd4gmhz398mmwcqm', '{"kind":"client","head":"cr_j9q2…","account_id":"acc_01m8ex0f5q08x5fmj16fz0g7na"}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (13, 1795796516480, 'test', 'key.create', 'key_01m8ex0fkz4zt6naj9cnepwg4w', '{"id":"key_01m8ex0fkz4zt6naj9cnepwg4w","kind":"admin","account_id":null,"member_id":null,"role":"owner","head":"ad_aQZO…","state":"active","name":"kept","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:56.479Z","revoked_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (14, 1795796516643, 'key_01m8ex0fkz4zt6naj9cnepwg4w', 'note.add', 'acc_01m8ex0djq2eas38mb0av2dcj0', '{"note":"note_01m8ex0frnck4xnk7vdsgz7yd6"}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (15, 1795796516736, 'key_01m8ex0fkz4zt6naj9cnepwg4w', 'code.create', 'batch_01m8ex0ftytt5fqv5zfee0tx2q', '{"amount_usd":"10","count":2,"expires_at":null}');
INSERT INTO public.operator_action OVERRIDING SYSTEM VALUE VALUES (16, 1795796520035, 'test', 'account.credit', 'acc_01m8ex0f5q08x5fmj16fz0g7na', '{"amount_usd":"3","reference":"bank-2"}');
INSERT INTO public.price VALUES ('large-1', 0, '{"input":3,"output":15,"cache_read":0.3,"cache_write_5m":3.75,"cache_write_1h":6}');
INSERT INTO public.price VALUES ('small-1', 0, '{"input":1,"output":5,"cache_read":0.1,"cache_write_5m":1.25,"cache_write_1h":2}');
INSERT INTO public.price VALUES ('chat-1', 0, '{"input":2,"output":10,"cache_read":0.2}');
INSERT INTO public.price VALUES ('chat-mini-1', 0, '{"input":0.1,"output":0.5,"cache_read":0.01}');
INSERT INTO public.price VALUES ('embed-1', 0, '{"input":0.02}');
INSERT INTO public.report_day VALUES ('2026-11-27', 'acc_01m8ex0djq2eas38mb0av2dcj0', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'chat-1', 'beta-main', '', 3, 3, 0, 0, 0, 6, 46, 0, 0, 6, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 472000000, 0, 0, 0, 472000000);
INSERT INTO public.report_day VALUES ('2026-11-27', 'acc_01m8ex0djq2eas38mb0av2dcj0', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'large-1', 'alpha-main', '', 1, 1, 0, 0, 0, 2, 23, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 351000000, 0, 0, 10000000, 341000000);
INSERT INTO public.revision VALUES ('catalogue', 32);
INSERT INTO public.revision VALUES ('access', 6);
INSERT INTO public.revision VALUES ('balances', 5);
INSERT INTO public.revision VALUES ('accounts', 7);
INSERT INTO public.schemaversion VALUES (1, 'schema', 'b8d6a9b2b4a757176b4818feee49d8bb', '2026-11-27 16:21:53.499911+00');
INSERT INTO public.seal_mark VALUES (1795798800000, 8);
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 1, 1, 'de3cdc166a7ab51dda7ca0b8d81d5d7c3f1114835781072c1347af4fc0943ccf', '');
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 2, 2, '4031d47699349e9de4f94297e5829c0d6f7a7e55d3de12842a9136bdd2208042', 'ebfe12bb215ba7bbc16c2734b2d99ded6112999f5b5529486aff75b847a2369f');
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 3, 3, 'af44c0f652e1fdb2ebdd32a2372be35fa9a31d6352f44f3bd6082a3c22679a7d', 'cb8ed6d66aa03d41c660f56396388e3e804158221d9185e9e3268602770643ab');
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 4, 4, '77e5a3767ed2f7f7b49f0fcd761a0c38ff1fc1675030c150e822ea512a1f5cd3', 'cb8ed6d66aa03d41c660f56396388e3e804158221d9185e9e3268602770643ab');
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 5, 5, '4f16e645aa678a8ec41eb73f2fc17da25f65bb79bb7d123285bb1e8a6b2282f8', 'd601a17e26375d7c1d9002de18ac3baf3f4d7289e0c8557cda86dc2dc06b79d4');
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0f5q08x5fmj16fz0g7na', 1, 6, 'af56f0a1b77ae8b223545f556e5f6c627320988373202aa494de4e1507ae7ac7', '');
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0f5q08x5fmj16fz0g7na', 2, 7, 'b59fcac5cd1bc68ddfbb86b90b31768c7b4d94b586aa5fe3baac780a8e4c9629', '');
INSERT INTO public.sealed_entry VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 6, 8, '8c1ff4b072b36f7dd33c97d54871b71249ef4544bfb2cb9277d4d517137a2805', '');
INSERT INTO public.sealed_head VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 6, 1795798800000, '8c1ff4b072b36f7dd33c97d54871b71249ef4544bfb2cb9277d4d517137a2805', 99999187000000, 'd21cde64a96e6376', 'e514e166299452a6eafde8dabd014d90ab6c1373c4e1ea9f69c231baae346b75587652a3e62f18c46d86a13bbefb1b4803fd1ec6745f8d02333159dfdc6a4500');
INSERT INTO public.sealed_head VALUES ('acc_01m8ex0f5q08x5fmj16fz0g7na', 2, 1795798800000, 'b59fcac5cd1bc68ddfbb86b90b31768c7b4d94b586aa5fe3baac780a8e4c9629', 7000000000000, 'd21cde64a96e6376', '5e7a9b0c78135e0ee9bbbba5178ade74ad829f34f7862dbaf650fbe8c24ebce0729fead971bf299304efbc7f17407da363656986686aa30dd5f606242532690d');
INSERT INTO public.signing_key VALUES ('d21cde64a96e6376', 'debef72f17f4e0f681df851065816eeb308c64df78b9a94d2b659798cae8e887', 'sealed:v1.351e4cf1.Srso54cyTmbTmuzAbIaeUea9YmaJ5PHKVy4zeCnsfgw9I1fbD4h1Cs7bUoMuBepmlV_kEt0aeDtdUqZpL8z32FH8fEEkmhaLJA5Ufi33oMdcflvPkpL27CiMKx4', 1795800116768, NULL, NULL);
INSERT INTO public.stored_function VALUES ('count_free_requests', '9a1544d921873c476194bd5f9ad2a5fc', 'e5f5099bd7ae109220ac83a8152b0fd9');
INSERT INTO public.stored_function VALUES ('count_labels', '1d479e9f9ea4fba79aae295fe9e5940b', '9d4f6a71887ae2bbb27500321e965115');
INSERT INTO public.stored_function VALUES ('decide_requests', '1a9d3c3270f087c4a4e172623aade3f3', '70b8753a2ec629b846e497cfb3474730');
INSERT INTO public.stored_function VALUES ('ensure_exchange_partitions', '1afcd0e61d37ded0508c5a5826a192bd', 'ef87192f4e68b67026ddb0327c82076e');
INSERT INTO public.stored_function VALUES ('expire_holds', 'bd50dbfcf0de80411bafcdcde0339e2f', 'e6b0fb658b09534270f2bc7d74511dcf');
INSERT INTO public.stored_function VALUES ('first_exchange_id', 'c8b2f444c181fcb08a659542f04fb58b', '4a87ba573d224284c0afbe0803cdf06b');
INSERT INTO public.stored_function VALUES ('note_requests', '8a8e230b4ae6f0139e68ab0c45a2d397', 'fb4be10287243b2488291454dc769e60');
INSERT INTO public.stored_function VALUES ('place_requests', '7faf7d88ccf538018d582c92cdec832d', '482bd87b23641d2d4294cf9af0a6e7ef');
INSERT INTO public.stored_function VALUES ('raise_revision', '2101667c2c13c9899ca34f41f24eed82', '1f0b5d13c2e638cdf581d7b9d8488d98');
INSERT INTO public.stored_function VALUES ('refuse_change', 'f0c7fb856201cb5b39af12d08ddf8d42', '64a0ab8cdfd5381ec00c6425b230bd5c');
INSERT INTO public.stored_function VALUES ('release_holds', '77c42631469a76157cac2156fd56c4dc', '66afbe0192e146746fbfabd0a298a6c7');
INSERT INTO public.stored_function VALUES ('settle_alone', 'b62fe05529a18761faaf11860ba973a3', '9691c1531afc5eaa7e7d2b845d196b41');
INSERT INTO public.stored_function VALUES ('settle_exchanges', '0da1ed5cb7f66c1dca258e1c5998ecf2', '629c23556ff58135562bfccdc3962574');
INSERT INTO public.stored_function VALUES ('store_time', '14e361a5731ba414f2f96f1809d6892c', '98da98f777206ba2c28d417f366f4400');
INSERT INTO public.usage_key_month VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', '2026-11', 813000000);
INSERT INTO public.usage_key_month VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'key_01m8ex0e0bgy4ez9dbw2v2tc23', 'total', 813000000);
INSERT INTO public.usage_month VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', '2026-11', 'chat-1', 3, 6, 46, 0, 472000000);
INSERT INTO public.usage_month VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'total', 'chat-1', 3, 6, 46, 0, 472000000);
INSERT INTO public.usage_month VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', '2026-11', 'large-1', 1, 2, 23, 0, 341000000);
INSERT INTO public.usage_month VALUES ('acc_01m8ex0djq2eas38mb0av2dcj0', 'total', 'large-1', 1, 2, 23, 0, 341000000);
INSERT INTO public.vendor VALUES ('alpha', 'messages', 'x-api-key', 'anthropic-version', '2023-06-01', 1, '', 'own', NULL);
INSERT INTO public.vendor VALUES ('beta', 'chat', 'bearer', NULL, NULL, 0, '', 'own', NULL);
SELECT pg_catalog.setval('public.channel_change_sequence_seq', 1, false);
SELECT pg_catalog.setval('public.entry_sequence_seq', 9, true);
SELECT pg_catalog.setval('public.ledger_audit_sequence_seq', 1, true);
SELECT pg_catalog.setval('public.node_boot', 1, true);
SELECT pg_catalog.setval('public.operator_action_sequence_seq', 16, true);
SELECT pg_catalog.setval('public.operator_cost_sequence_seq', 1, false);
SELECT pg_catalog.setval('public.recorded_requests', 5, true);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_name_key UNIQUE (name);
ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert
    ADD CONSTRAINT alert_cause_key UNIQUE (cause);
ALTER TABLE ONLY public.alert_delivery
    ADD CONSTRAINT alert_delivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert
    ADD CONSTRAINT alert_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alert_target
    ADD CONSTRAINT alert_target_name_key UNIQUE (name);
ALTER TABLE ONLY public.alert_target
    ADD CONSTRAINT alert_target_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.answer_state
    ADD CONSTRAINT answer_state_pkey PRIMARY KEY (vendor, id, kind, account_id);
ALTER TABLE ONLY public.audit_checkpoint
    ADD CONSTRAINT audit_checkpoint_pkey PRIMARY KEY (account_id);
ALTER TABLE ONLY public.channel_change
    ADD CONSTRAINT channel_change_id_key UNIQUE (id);
ALTER TABLE ONLY public.channel_change
    ADD CONSTRAINT channel_change_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.channel_check_answer
    ADD CONSTRAINT channel_check_answer_pkey PRIMARY KEY (check_id, node);
ALTER TABLE ONLY public.channel_check
    ADD CONSTRAINT channel_check_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.channel_health
    ADD CONSTRAINT channel_health_pkey PRIMARY KEY (channel, model);
ALTER TABLE ONLY public.channel
    ADD CONSTRAINT channel_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.channel_state
    ADD CONSTRAINT channel_state_pkey PRIMARY KEY (node, channel, model);
ALTER TABLE ONLY public.code_batch
    ADD CONSTRAINT code_batch_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.code
    ADD CONSTRAINT code_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.code
    ADD CONSTRAINT code_secret_hash_key UNIQUE (secret_hash);
ALTER TABLE ONLY public.entry
    ADD CONSTRAINT entry_account_id_reference_key UNIQUE (account_id, reference);
ALTER TABLE ONLY public.entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.exchange
    ADD CONSTRAINT exchange_pkey PRIMARY KEY (account_id, exchange_id);
ALTER TABLE ONLY public.exchange_2026_11
    ADD CONSTRAINT exchange_2026_11_pkey PRIMARY KEY (account_id, exchange_id);
ALTER TABLE ONLY public.exchange_2026_12
    ADD CONSTRAINT exchange_2026_12_pkey PRIMARY KEY (account_id, exchange_id);
ALTER TABLE ONLY public.exchange_cut
    ADD CONSTRAINT exchange_cut_pkey PRIMARY KEY (cut_ms);
ALTER TABLE ONLY public.exchange_default
    ADD CONSTRAINT exchange_default_pkey PRIMARY KEY (account_id, exchange_id);
ALTER TABLE ONLY public.expired_hold
    ADD CONSTRAINT expired_hold_pkey PRIMARY KEY (account_id, exchange_id);
ALTER TABLE ONLY public.former_credential
    ADD CONSTRAINT former_credential_pkey PRIMARY KEY (channel);
ALTER TABLE ONLY public.free_exchange
    ADD CONSTRAINT free_exchange_pkey PRIMARY KEY (account_id, exchange_id);
ALTER TABLE ONLY public.gateway_node
    ADD CONSTRAINT gateway_node_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.hold
    ADD CONSTRAINT hold_pkey PRIMARY KEY (account_id, exchange_id);
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (token_id, name);
ALTER TABLE ONLY public.key
    ADD CONSTRAINT key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.key_request_window
    ADD CONSTRAINT key_request_window_pkey PRIMARY KEY (account_id, key_id, allowance, at_ms);
ALTER TABLE ONLY public.key
    ADD CONSTRAINT key_secret_hash_key UNIQUE (secret_hash);
ALTER TABLE ONLY public.key_use
    ADD CONSTRAINT key_use_pkey PRIMARY KEY (key_id);
ALTER TABLE ONLY public.label_day
    ADD CONSTRAINT label_day_pkey PRIMARY KEY (account_id, day, label);
ALTER TABLE ONLY public.ledger_audit
    ADD CONSTRAINT ledger_audit_id_key UNIQUE (id);
ALTER TABLE ONLY public.ledger_audit
    ADD CONSTRAINT ledger_audit_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.limit_step
    ADD CONSTRAINT limit_step_pkey PRIMARY KEY (account_id, limit_of);
ALTER TABLE ONLY public.member
    ADD CONSTRAINT member_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.member_session
    ADD CONSTRAINT member_session_pkey PRIMARY KEY (id_hash);
ALTER TABLE ONLY public.model
    ADD CONSTRAINT model_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.node_lease
    ADD CONSTRAINT node_lease_pkey PRIMARY KEY (task);
ALTER TABLE ONLY public.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (boot);
ALTER TABLE ONLY public.note
    ADD CONSTRAINT note_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operator_action
    ADD CONSTRAINT operator_action_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.operator_cost
    ADD CONSTRAINT operator_cost_id_key UNIQUE (id);
ALTER TABLE ONLY public.operator_cost
    ADD CONSTRAINT operator_cost_pkey PRIMARY KEY (sequence);
ALTER TABLE ONLY public.payment
    ADD CONSTRAINT payment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.price
    ADD CONSTRAINT price_pkey PRIMARY KEY (model, valid_from_ms);
ALTER TABLE ONLY public.reconciliation
    ADD CONSTRAINT reconciliation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.report_day
    ADD CONSTRAINT report_day_pkey PRIMARY KEY (day, model, channel, account_id, key_id, label);
ALTER TABLE ONLY public.report_moment
    ADD CONSTRAINT report_moment_pkey PRIMARY KEY (day, minute);
ALTER TABLE ONLY public.request_window
    ADD CONSTRAINT request_window_pkey PRIMARY KEY (account_id, at_ms);
ALTER TABLE ONLY public.revision
    ADD CONSTRAINT revision_pkey PRIMARY KEY (area);
ALTER TABLE ONLY public.schemaversion
    ADD CONSTRAINT schemaversion_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.seal_mark
    ADD CONSTRAINT seal_mark_pkey PRIMARY KEY (hour_ms);
ALTER TABLE ONLY public.sealed_entry
    ADD CONSTRAINT sealed_entry_pkey PRIMARY KEY (account_id, place);
ALTER TABLE ONLY public.sealed_entry
    ADD CONSTRAINT sealed_entry_sequence_key UNIQUE (sequence);
ALTER TABLE ONLY public.sealed_head
    ADD CONSTRAINT sealed_head_pkey PRIMARY KEY (account_id, place);
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id_hash);
ALTER TABLE ONLY public.sign_in_code
    ADD CONSTRAINT sign_in_code_pkey PRIMARY KEY (code_hash);
ALTER TABLE ONLY public.sign_in_link
    ADD CONSTRAINT sign_in_link_pkey PRIMARY KEY (code_hash);
ALTER TABLE ONLY public.signing_key
    ADD CONSTRAINT signing_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.stored_function
    ADD CONSTRAINT stored_function_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.token_minute
    ADD CONSTRAINT token_minute_pkey PRIMARY KEY (account_id, second, key_id);
ALTER TABLE ONLY public.unclean_stop
    ADD CONSTRAINT unclean_stop_pkey PRIMARY KEY (node);
ALTER TABLE ONLY public.usage_key_month
    ADD CONSTRAINT usage_key_month_pkey PRIMARY KEY (account_id, key_id, month);
ALTER TABLE ONLY public.usage_month
    ADD CONSTRAINT usage_month_pkey PRIMARY KEY (account_id, month, model);
ALTER TABLE ONLY public.vendor
    ADD CONSTRAINT vendor_pkey PRIMARY KEY (name);
CREATE UNIQUE INDEX account_by_external_id ON public.account USING btree (external_id);
CREATE INDEX alert_delivery_by_time ON public.alert_delivery USING btree (created_at_ms);
CREATE INDEX alert_delivery_waiting ON public.alert_delivery USING btree (target_id, due_at_ms) WHERE (state = 'waiting'::text);
CREATE INDEX answer_state_expiry ON public.answer_state USING btree (expires_at_ms);
CREATE INDEX answer_state_response ON public.answer_state USING btree (response_id) WHERE (response_id IS NOT NULL);
CREATE INDEX channel_change_by_channel ON public.channel_change USING btree (channel, at_ms, sequence);
CREATE INDEX channel_change_by_time ON public.channel_change USING btree (at_ms, sequence);
CREATE INDEX code_by_batch ON public.code USING btree (batch_id, id);
CREATE INDEX entry_by_operator_of_account ON public.entry USING btree (account_id, sequence) WHERE (kind <> 'charge'::text);
CREATE INDEX exchange_waived ON ONLY public.exchange USING btree (account_id, exchange_id) WHERE (waived_picos > 0);
CREATE INDEX exchange_2026_11_account_id_exchange_id_idx ON public.exchange_2026_11 USING btree (account_id, exchange_id) WHERE (waived_picos > 0);
CREATE INDEX exchange_log ON ONLY public.exchange USING btree (exchange_id, account_id, key_id, model, channel, status, code, ending);
CREATE INDEX exchange_2026_11_exchange_id_account_id_key_id_model_channe_idx ON public.exchange_2026_11 USING btree (exchange_id, account_id, key_id, model, channel, status, code, ending);
CREATE INDEX exchange_by_vendor_request ON ONLY public.exchange USING btree (vendor_request_id) WHERE (vendor_request_id IS NOT NULL);
CREATE INDEX exchange_2026_11_vendor_request_id_idx ON public.exchange_2026_11 USING btree (vendor_request_id) WHERE (vendor_request_id IS NOT NULL);
CREATE INDEX exchange_2026_12_account_id_exchange_id_idx ON public.exchange_2026_12 USING btree (account_id, exchange_id) WHERE (waived_picos > 0);
CREATE INDEX exchange_2026_12_exchange_id_account_id_key_id_model_channe_idx ON public.exchange_2026_12 USING btree (exchange_id, account_id, key_id, model, channel, status, code, ending);
CREATE INDEX exchange_2026_12_vendor_request_id_idx ON public.exchange_2026_12 USING btree (vendor_request_id) WHERE (vendor_request_id IS NOT NULL);
CREATE INDEX exchange_default_account_id_exchange_id_idx ON public.exchange_default USING btree (account_id, exchange_id) WHERE (waived_picos > 0);
CREATE INDEX exchange_default_exchange_id_account_id_key_id_model_channe_idx ON public.exchange_default USING btree (exchange_id, account_id, key_id, model, channel, status, code, ending);
CREATE INDEX exchange_default_vendor_request_id_idx ON public.exchange_default USING btree (vendor_request_id) WHERE (vendor_request_id IS NOT NULL);
CREATE INDEX free_exchange_by_vendor_request ON public.free_exchange USING btree (vendor_request_id) WHERE (vendor_request_id IS NOT NULL);
CREATE INDEX free_exchange_log ON public.free_exchange USING btree (exchange_id, account_id, key_id, model, channel, status, code);
CREATE INDEX idempotency_key_by_time ON public.idempotency_key USING btree (created_at_ms);
CREATE INDEX key_by_account ON public.key USING btree (account_id, id);
CREATE INDEX key_by_head ON public.key USING btree (head, id);
CREATE INDEX ledger_audit_by_scope ON public.ledger_audit USING btree (scope, sequence);
CREATE INDEX member_by_account ON public.member USING btree (account_id, id);
CREATE INDEX member_by_email ON public.member USING btree (email);
CREATE UNIQUE INDEX member_of_account ON public.member USING btree (account_id, email) WHERE (removed_at_ms IS NULL);
CREATE INDEX member_session_by_member ON public.member_session USING btree (member_id, created_at_ms);
CREATE INDEX note_by_subject ON public.note USING btree (kind, subject, id);
CREATE INDEX operator_action_by_action ON public.operator_action USING btree (action, sequence);
CREATE INDEX operator_action_by_subject ON public.operator_action USING btree (subject, sequence);
CREATE INDEX operator_cost_by_channel ON public.operator_cost USING btree (channel, at_ms);
CREATE INDEX payment_with_problem ON public.payment USING btree (changed_at_ms) WHERE (problem IS NOT NULL);
CREATE INDEX report_day_by_account ON public.report_day USING btree (account_id, day, key_id);
CREATE INDEX session_by_token ON public.session USING btree (token_id, created_at_ms);
CREATE INDEX sign_in_link_by_domain ON public.sign_in_link USING btree (domain);
CREATE INDEX sign_in_link_by_email ON public.sign_in_link USING btree (email);
ALTER INDEX public.exchange_waived ATTACH PARTITION public.exchange_2026_11_account_id_exchange_id_idx;
ALTER INDEX public.exchange_log ATTACH PARTITION public.exchange_2026_11_exchange_id_account_id_key_id_model_channe_idx;
ALTER INDEX public.exchange_pkey ATTACH PARTITION public.exchange_2026_11_pkey;
ALTER INDEX public.exchange_by_vendor_request ATTACH PARTITION public.exchange_2026_11_vendor_request_id_idx;
ALTER INDEX public.exchange_waived ATTACH PARTITION public.exchange_2026_12_account_id_exchange_id_idx;
ALTER INDEX public.exchange_log ATTACH PARTITION public.exchange_2026_12_exchange_id_account_id_key_id_model_channe_idx;
ALTER INDEX public.exchange_pkey ATTACH PARTITION public.exchange_2026_12_pkey;
ALTER INDEX public.exchange_by_vendor_request ATTACH PARTITION public.exchange_2026_12_vendor_request_id_idx;
ALTER INDEX public.exchange_waived ATTACH PARTITION public.exchange_default_account_id_exchange_id_idx;
ALTER INDEX public.exchange_log ATTACH PARTITION public.exchange_default_exchange_id_account_id_key_id_model_channe_idx;
ALTER INDEX public.exchange_pkey ATTACH PARTITION public.exchange_default_pkey;
ALTER INDEX public.exchange_by_vendor_request ATTACH PARTITION public.exchange_default_vendor_request_id_idx;
CREATE TRIGGER account_inserted AFTER INSERT ON public.account FOR EACH STATEMENT EXECUTE FUNCTION public.raise_revision('accounts');
CREATE TRIGGER account_updated AFTER UPDATE OF name, status, daily_limit_picos, monthly_limit_picos, credit_line_picos, holds, has_paid, rpm, window_minutes, price_multiplier_ppm, tokens_per_minute ON public.account FOR EACH STATEMENT EXECUTE FUNCTION public.raise_revision('accounts');
CREATE TRIGGER channel_change_is_never_changed BEFORE UPDATE ON public.channel_change FOR EACH ROW EXECUTE FUNCTION public.refuse_change('the history of channels is append-only');
CREATE TRIGGER channel_change_is_never_deleted BEFORE DELETE ON public.channel_change FOR EACH ROW EXECUTE FUNCTION public.refuse_change('the history of channels is append-only');
CREATE TRIGGER channel_change_is_never_emptied BEFORE TRUNCATE ON public.channel_change FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change('the history of channels is append-only');
CREATE TRIGGER channel_changed AFTER INSERT OR UPDATE ON public.channel FOR EACH STATEMENT EXECUTE FUNCTION public.raise_revision('catalogue');
CREATE TRIGGER entry_by_operator AFTER INSERT ON public.entry FOR EACH ROW WHEN ((new.kind <> 'charge'::text)) EXECUTE FUNCTION public.raise_revision('balances');
CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON public.entry FOR EACH ROW EXECUTE FUNCTION public.refuse_change('entries are append-only');
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON public.entry FOR EACH ROW EXECUTE FUNCTION public.refuse_change('entries are append-only');
CREATE TRIGGER entry_is_never_emptied BEFORE TRUNCATE ON public.entry FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change('entries are append-only');
CREATE TRIGGER exchange_is_never_changed BEFORE UPDATE ON public.exchange FOR EACH ROW EXECUTE FUNCTION public.refuse_change('exchanges are recorded once');
CREATE TRIGGER free_exchange_recorded AFTER INSERT ON public.free_exchange FOR EACH STATEMENT EXECUTE FUNCTION public.note_requests();
CREATE TRIGGER key_changed AFTER INSERT OR UPDATE ON public.key FOR EACH STATEMENT EXECUTE FUNCTION public.raise_revision('access');
CREATE TRIGGER model_changed AFTER INSERT OR UPDATE ON public.model FOR EACH STATEMENT EXECUTE FUNCTION public.raise_revision('catalogue');
CREATE TRIGGER operator_action_is_never_changed BEFORE UPDATE ON public.operator_action FOR EACH ROW EXECUTE FUNCTION public.refuse_change('the log of operators'' actions is append-only');
CREATE TRIGGER operator_action_is_never_deleted BEFORE DELETE ON public.operator_action FOR EACH ROW EXECUTE FUNCTION public.refuse_change('the log of operators'' actions is append-only');
CREATE TRIGGER operator_action_is_never_emptied BEFORE TRUNCATE ON public.operator_action FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change('the log of operators'' actions is append-only');
CREATE TRIGGER operator_cost_is_never_changed BEFORE UPDATE ON public.operator_cost FOR EACH ROW EXECUTE FUNCTION public.refuse_change('costs are append-only');
CREATE TRIGGER operator_cost_is_never_deleted BEFORE DELETE ON public.operator_cost FOR EACH ROW EXECUTE FUNCTION public.refuse_change('costs are append-only');
CREATE TRIGGER operator_cost_is_never_emptied BEFORE TRUNCATE ON public.operator_cost FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change('costs are append-only');
CREATE TRIGGER price_changed AFTER INSERT OR UPDATE ON public.price FOR EACH STATEMENT EXECUTE FUNCTION public.raise_revision('catalogue');
CREATE TRIGGER sealed_entry_is_never_changed BEFORE UPDATE ON public.sealed_entry FOR EACH ROW EXECUTE FUNCTION public.refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_entry_is_never_deleted BEFORE DELETE ON public.sealed_entry FOR EACH ROW EXECUTE FUNCTION public.refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_entry_is_never_emptied BEFORE TRUNCATE ON public.sealed_entry FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_head_is_never_changed BEFORE UPDATE ON public.sealed_head FOR EACH ROW EXECUTE FUNCTION public.refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_head_is_never_deleted BEFORE DELETE ON public.sealed_head FOR EACH ROW EXECUTE FUNCTION public.refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER sealed_head_is_never_emptied BEFORE TRUNCATE ON public.sealed_head FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change('sealed entries and heads are append-only');
CREATE TRIGGER vendor_changed AFTER INSERT OR UPDATE ON public.vendor FOR EACH STATEMENT EXECUTE FUNCTION public.raise_revision('catalogue');
ALTER TABLE ONLY public.audit_checkpoint
    ADD CONSTRAINT audit_checkpoint_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.channel
    ADD CONSTRAINT channel_vendor_fkey FOREIGN KEY (vendor) REFERENCES public.vendor(name);
ALTER TABLE ONLY public.code
    ADD CONSTRAINT code_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.code
    ADD CONSTRAINT code_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.code_batch(id);
ALTER TABLE ONLY public.former_credential
    ADD CONSTRAINT former_credential_channel_fkey FOREIGN KEY (channel) REFERENCES public.channel(name);
ALTER TABLE ONLY public.key
    ADD CONSTRAINT key_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.member
    ADD CONSTRAINT member_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.account(id);
ALTER TABLE ONLY public.model
    ADD CONSTRAINT model_vendor_fkey FOREIGN KEY (vendor) REFERENCES public.vendor(name);
ALTER TABLE ONLY public.price
    ADD CONSTRAINT price_model_fkey FOREIGN KEY (model) REFERENCES public.model(id);
