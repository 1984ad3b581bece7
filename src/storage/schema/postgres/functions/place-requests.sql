-- Settles ended exchanges, if any, then admits or refuses a batch of requests, in one statement and one
-- commit. Account rows are locked in the order of their ids, so no two batches wait for each other;
-- everything is decided after the locks are held, by the state that the batch before has left. Rows with the
-- outcome `withheld` have the place of an ended record; a row `lease_lost` means that nothing is decided.
CREATE OR REPLACE FUNCTION place_requests(
  p_now_ms BIGINT,
  p_boot BIGINT,
  p_account_ids TEXT[],
  p_exchange_ids TEXT[],
  p_key_ids TEXT[],
  p_amounts_picos BIGINT[],
  p_leasts_picos BIGINT[],
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
  is_uncovered BOOLEAN,
  balance_picos BIGINT,
  credit_line_picos BIGINT,
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
  -- The new holds: their places, and their sum for each account.
  v_new INTEGER[] := '{}';
  v_uncovered BOOLEAN[] := '{}';
  v_count INTEGER := 0;
  v_account_ids TEXT[] := '{}';
  v_account_id TEXT;
  v_helds BIGINT[] := '{}';
  -- The place in the window of each account's last admitted request with a limit per minute.
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
  FOR place, outcome, amount_picos, is_uncovered, balance_picos, credit_line_picos, held_picos,
      is_held_only, used_picos, limit_picos, retry_after_ms, rpm, window_minutes, counted, oldest_age_ms, key_counted, key_oldest_age_ms, tpm,
      v_is_new, v_moment, v_number, v_key_moment, v_key_number IN
    SELECT * FROM decide_requests(v_now, FALSE, p_account_ids, p_exchange_ids, p_key_ids,
      p_amounts_picos, p_leasts_picos, p_days, p_key_daily_picos, p_key_monthly_picos, p_key_total_picos, p_key_rpms,
      p_key_tpms)
  LOOP
    RETURN NEXT;
    IF v_is_new THEN
      v_new := array_append(v_new, place);
      v_uncovered := array_append(v_uncovered, is_uncovered);
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
    SELECT p_account_ids[n.place], p_exchange_ids[n.place], p_key_ids[n.place], p_amounts_picos[n.place],
        n.is_uncovered, p_boot, v_now
      FROM unnest(v_new, v_uncovered) n (place, is_uncovered);
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
