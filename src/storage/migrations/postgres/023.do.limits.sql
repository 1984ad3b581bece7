-- Limits of keys: a month, all time, requests per minute. One function has the rules of admission; placing
-- holds and checking call it. Gateways of an earlier version go on with place_holds, settle_and_place_holds
-- and count_token_requests.

ALTER TABLE key ADD COLUMN monthly_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (monthly_limit_picos >= 0);
ALTER TABLE key ADD COLUMN total_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (total_limit_picos >= 0);
ALTER TABLE key ADD COLUMN rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0);

-- As request_window, for keys that have a limit per minute.
CREATE TABLE key_request_window (
  account_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  allowance TEXT COLLATE "C" NOT NULL CHECK (allowance IN ('requests', 'free_requests')),
  at_ms BIGINT NOT NULL,
  first_number BIGINT NOT NULL,
  last_number BIGINT NOT NULL,
  PRIMARY KEY (account_id, key_id, allowance, at_ms)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- Decides a batch of requests and writes nothing. Requests of one account are decided in the order they
-- stand in; what is admitted counts toward the next, unless each is only checked. The order of the rules:
-- requests per minute of the account, of the key; tokens per minute of the account, of the key; balance;
-- the account's day; the key's day, month and total. Figures of a key are read once for a batch, and only
-- those that a limit needs. STABLE: it sees what the calling statement sees. A check calls it directly, so it
-- keeps one plan for each statement itself; plans made while tables were small would read them as a whole.
CREATE FUNCTION decide_requests(
  p_now_ms BIGINT, -- of store_time
  p_is_check BOOLEAN,
  p_account_ids TEXT[],
  p_exchange_ids TEXT[], -- NULL = the request only counts toward requests per minute
  p_key_ids TEXT[],
  p_amounts_picos BIGINT[],
  p_days TEXT[],
  p_key_daily_picos BIGINT[],
  p_key_monthly_picos BIGINT[],
  p_key_total_picos BIGINT[],
  p_key_rpms INTEGER[],
  p_key_tpms BIGINT[]
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
) LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_request RECORD;
  v_new INTEGER[] := '{}'; -- places of the new holds
  v_second BIGINT := p_now_ms / 1000 - 60; -- tokens of later seconds count
  -- Of the account whose requests are being decided.
  v_account_id TEXT;
  v_held BIGINT;
  v_moment BIGINT; -- of this batch in the window; never before an earlier one
  v_last BIGINT; -- number of the window's last request, this batch included
  v_oldest BIGINT;
  v_window_ms BIGINT;
  v_tokens BIGINT;
  v_day TEXT;
  v_used BIGINT;
  -- Of its keys met so far; NULL = not read.
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
    SELECT r.*, a.balance_picos, a.held_picos, a.daily_limit_picos, a.rpm, a.tokens_per_minute,
        a.window_minutes,
        h.amount_picos AS there_picos
      FROM unnest(p_account_ids, p_exchange_ids, p_key_ids, p_amounts_picos, p_days, p_key_daily_picos,
        p_key_monthly_picos, p_key_total_picos, p_key_rpms, p_key_tpms) WITH ORDINALITY
        AS r (account_id, exchange_id, key_id, amount_picos, day, key_daily, key_monthly, key_total,
          key_rpm, key_tpm, place)
      JOIN account a ON a.id = r.account_id
      LEFT JOIN hold h ON h.account_id = r.account_id AND h.exchange_id = r.exchange_id
     ORDER BY r.account_id, r.place
  LOOP
    IF v_account_id IS DISTINCT FROM v_request.account_id THEN
      v_account_id := v_request.account_id;
      balance_picos := v_request.balance_picos;
      v_held := v_request.held_picos;
      rpm := v_request.rpm;
      tpm := v_request.tokens_per_minute;
      window_minutes := v_request.window_minutes;
      counted := 0;
      v_tokens := NULL;
      v_day := NULL;
      v_moment := NULL;
      v_last := NULL;
      v_oldest := NULL;
      IF v_key_ids <> '{}' THEN
        v_key_ids := '{}';
        v_key_days := '{}';
        v_key_day_used := '{}';
        v_key_month_used := '{}';
        v_key_total_used := '{}';
        v_key_held := '{}';
        v_key_moments := '{}';
        v_key_lasts := '{}';
        v_key_counted := '{}';
        v_key_oldest := '{}';
        v_key_tokens := '{}';
      END IF;
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
      outcome := 'rate_limited';
      RETURN NEXT;
      CONTINUE;
    END IF;

    v_key := NULL;
    IF v_request.key_daily > 0 OR v_request.key_monthly > 0 OR v_request.key_total > 0
        OR v_request.key_rpm > 0 OR v_request.key_tpm > 0 THEN
      v_key := array_position(v_key_ids, v_request.key_id);
      IF v_key IS NULL THEN
        v_key := cardinality(v_key_ids) + 1;
        v_key_ids[v_key] := v_request.key_id;
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
        outcome := 'key_rate_limited';
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
          outcome := 'token_limited';
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
          outcome := 'key_token_limited';
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;

      IF balance_picos - v_held < v_request.amount_picos THEN
        outcome := 'insufficient_balance';
        is_held_only := balance_picos >= v_request.amount_picos;
        RETURN NEXT;
        CONTINUE;
      END IF;

      -- Differences, because sums of three amounts could exceed 64 bits.
      IF v_request.daily_limit_picos > 0 THEN
        IF v_day IS DISTINCT FROM v_request.day THEN
          v_day := v_request.day;
          SELECT COALESCE(SUM(u.cost_picos), 0) INTO v_used FROM usage_day u
           WHERE u.account_id = v_account_id AND u.day = v_day;
        END IF;
        IF v_used > v_request.daily_limit_picos - v_held - v_request.amount_picos THEN
          outcome := 'account_daily_limit';
          used_picos := v_used;
          limit_picos := v_request.daily_limit_picos;
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;

      IF v_request.key_daily > 0 OR v_request.key_monthly > 0 OR v_request.key_total > 0 THEN
        IF v_key_held[v_key] IS NULL THEN
          SELECT COALESCE(SUM(part.amount_picos), 0) INTO v_sum FROM (
            SELECT h.amount_picos FROM hold h
             WHERE h.account_id = v_account_id AND h.key_id = v_request.key_id
            UNION ALL
            SELECT p_amounts_picos[i] FROM unnest(v_new) i
             WHERE p_account_ids[i] = v_account_id AND p_key_ids[i] = v_request.key_id
          ) part;
          v_key_held[v_key] := v_sum;
        END IF;
        IF v_key_days[v_key] IS DISTINCT FROM v_request.day THEN
          v_key_days[v_key] := v_request.day;
          SELECT COALESCE(SUM(u.cost_picos), 0) INTO v_sum FROM usage_day u
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
        IF v_request.key_daily > 0 AND v_key_day_used[v_key]
            > v_request.key_daily - v_key_held[v_key] - v_request.amount_picos THEN
          outcome := 'key_daily_limit';
          used_picos := v_key_day_used[v_key];
          limit_picos := v_request.key_daily;
        ELSIF v_request.key_monthly > 0 AND v_key_month_used[v_key]
            > v_request.key_monthly - v_key_held[v_key] - v_request.amount_picos THEN
          outcome := 'key_monthly_limit';
          used_picos := v_key_month_used[v_key];
          limit_picos := v_request.key_monthly;
        ELSIF v_request.key_total > 0 AND v_key_total_used[v_key]
            > v_request.key_total - v_key_held[v_key] - v_request.amount_picos THEN
          outcome := 'key_total_limit';
          used_picos := v_key_total_used[v_key];
          limit_picos := v_request.key_total;
        END IF;
        IF limit_picos IS NOT NULL THEN
          held_picos := v_key_held[v_key];
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;
    END IF;

    outcome := 'hold';
    amount_picos := v_request.amount_picos;
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

-- Settles ended exchanges, if any, then admits or refuses a batch of requests, in one statement and one
-- commit. Account rows are locked in the order of their ids, so no two batches wait for each other;
-- everything is decided after the locks are held, so it is what the batch before has left. Rows with the
-- outcome `withheld` have the place of an ended record; a row `lease_lost` means that nothing is decided.
CREATE FUNCTION place_requests(
  p_now_ms BIGINT,
  p_boot BIGINT,
  p_account_ids TEXT[],
  p_exchange_ids TEXT[],
  p_key_ids TEXT[],
  p_amounts_picos BIGINT[],
  p_days TEXT[],
  p_key_daily_picos BIGINT[],
  p_key_monthly_picos BIGINT[],
  p_key_total_picos BIGINT[],
  p_key_rpms INTEGER[],
  p_key_tpms BIGINT[],
  p_ended_account_ids TEXT[], -- of the records that follow; both NULL where there are none
  p_ended_records JSON
) RETURNS TABLE (
  place INTEGER,
  outcome TEXT,
  amount_picos BIGINT,
  balance_picos BIGINT,
  held_picos BIGINT,
  is_held_only BOOLEAN,
  used_picos BIGINT,
  limit_picos BIGINT,
  retry_after_ms BIGINT,
  rpm INTEGER,
  window_minutes INTEGER,
  counted BIGINT,
  oldest_age_ms BIGINT,
  key_counted BIGINT,
  key_oldest_age_ms BIGINT,
  tpm BIGINT
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_now BIGINT;
  v_is_new BOOLEAN;
  v_moment BIGINT;
  v_number BIGINT;
  v_key_moment BIGINT;
  v_key_number BIGINT;
  -- Of the new holds: their places, and for each account their sum.
  v_new INTEGER[] := '{}';
  v_count INTEGER := 0;
  v_account_ids TEXT[] := '{}';
  v_account_id TEXT;
  v_helds BIGINT[] := '{}';
  -- Of the admitted requests with a limit per minute, for each account: the last one's place in the window.
  v_window_ids TEXT[] := '{}';
  v_moments BIGINT[] := '{}';
  v_firsts BIGINT[] := '{}';
  v_lasts BIGINT[] := '{}';
  -- The same for each key; rows of one key may come in any order.
  v_key_places INTEGER[] := '{}';
  v_key_moments BIGINT[] := '{}';
  v_key_numbers BIGINT[] := '{}';
  v_windows INTEGER := 0;
BEGIN
  -- Gateways look at this once for each connection; a reload may have changed it since.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids || p_ended_account_ids)
    ORDER BY a.id FOR NO KEY UPDATE;
  IF p_ended_records IS NOT NULL THEN
    outcome := 'withheld';
    FOREACH place IN ARRAY settle_holds(NULL, p_ended_records) LOOP
      RETURN NEXT;
    END LOOP;
  END IF;
  v_now := store_time(p_now_ms);
  IF NOT EXISTS (SELECT 1 FROM node n WHERE n.boot = p_boot AND n.lease_until_ms > v_now) THEN
    place := 0;
    outcome := 'lease_lost';
    RETURN NEXT;
    RETURN;
  END IF;
  FOR place, outcome, amount_picos, balance_picos, held_picos, is_held_only, used_picos, limit_picos,
      retry_after_ms, rpm, window_minutes, counted, oldest_age_ms, key_counted, key_oldest_age_ms, tpm,
      v_is_new, v_moment, v_number, v_key_moment, v_key_number IN
    SELECT * FROM decide_requests(v_now, FALSE, p_account_ids, p_exchange_ids, p_key_ids,
      p_amounts_picos, p_days, p_key_daily_picos, p_key_monthly_picos, p_key_total_picos, p_key_rpms,
      p_key_tpms)
  LOOP
    RETURN NEXT;
    IF v_is_new THEN
      v_new := array_append(v_new, place);
      v_account_id := p_account_ids[place];
      IF v_count = 0 OR v_account_ids[v_count] <> v_account_id THEN
        v_count := v_count + 1;
        v_account_ids[v_count] := v_account_id;
        v_helds[v_count] := amount_picos;
      ELSE
        v_helds[v_count] := v_helds[v_count] + amount_picos;
      END IF;
    END IF;
    IF v_number IS NOT NULL THEN
      v_account_id := p_account_ids[place];
      IF v_windows = 0 OR v_window_ids[v_windows] <> v_account_id THEN
        v_windows := v_windows + 1;
        v_window_ids[v_windows] := v_account_id;
        v_moments[v_windows] := v_moment;
        v_firsts[v_windows] := v_number;
      END IF;
      v_lasts[v_windows] := v_number;
    END IF;
    IF v_key_number IS NOT NULL THEN
      v_key_places := array_append(v_key_places, place);
      v_key_moments := array_append(v_key_moments, v_key_moment);
      v_key_numbers := array_append(v_key_numbers, v_key_number);
    END IF;
  END LOOP;

  IF v_count > 0 THEN
    INSERT INTO hold
    SELECT p_account_ids[i], p_exchange_ids[i], p_key_ids[i], p_amounts_picos[i], p_boot, v_now
      FROM unnest(v_new) i;
    UPDATE account a SET held_picos = a.held_picos + n.held_picos
      FROM unnest(v_account_ids, v_helds) n (id, held_picos) WHERE a.id = n.id;
  END IF;
  IF v_windows > 0 THEN
    INSERT INTO request_window
    SELECT * FROM unnest(v_window_ids, v_moments, v_firsts, v_lasts)
    ON CONFLICT (account_id, at_ms) DO UPDATE SET last_number = EXCLUDED.last_number;
  END IF;
  IF v_key_places <> '{}' THEN
    INSERT INTO key_request_window
    SELECT p_account_ids[k.place], p_key_ids[k.place], 'requests', k.moment, MIN(k.number), MAX(k.number)
      FROM unnest(v_key_places, v_key_moments, v_key_numbers) k (place, moment, number)
     GROUP BY 1, 2, 4
    ON CONFLICT (account_id, key_id, allowance, at_ms)
      DO UPDATE SET last_number = EXCLUDED.last_number;
  END IF;
END $$;

-- Counts a batch of free requests, each toward `p_factor` times the requests per minute of its account and
-- of its key, or refuses it. A row for each request whose account exists.
CREATE FUNCTION count_free_requests(
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
        outcome := 'rate_limited';
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
        outcome := 'key_free_limited';
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
