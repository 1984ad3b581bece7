-- Settles ended exchanges, if any, then admits or refuses a batch of requests, in one statement and one
-- commit. Account rows are locked in the order of their ids, so no two batches wait for each other;
-- everything is decided after the locks are held, by the state that the batch before has left.
--
-- Where neither account nor keys have a limit and the money suffices for all requests of the account, they
-- are admitted together: a row `account` has the account's place. All others are decided one after the other
-- and have a row each, if their account exists. A row `lease_lost` means that nothing is decided.
CREATE OR REPLACE FUNCTION place_requests(
  p_now_ms BIGINT,
  p_boot BIGINT,
  p_account_ids TEXT[], -- of all exchanges and requests, each once
  -- Of each account the sum of its holds, where its requests may be admitted together: no key has a limit,
  -- and none of them was sent before. Otherwise 0.
  p_together_picos BIGINT[],
  p_requests TEXT, -- an array of rows of type admission
  p_charged_picos BIGINT[], -- of each account, by the exchanges that have ended
  -- As for settle_exchanges; NULL where no exchange has ended.
  p_hold_count INTEGER,
  p_exchange TEXT,
  p_report_day TEXT,
  p_usage_month TEXT,
  p_usage_key_month TEXT,
  p_token_minute TEXT,
  p_answer_state TEXT
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
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
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
