-- Books one ended exchange, whatever was there before. One that was booked before only frees its hold. Where
-- it has no hold, because its node was away for longer than its lease, and balance and credit line less holds
-- do not cover its whole charge, nothing is written. Returns whether its charge is withheld, for this reason
-- now or at an earlier call.
CREATE OR REPLACE FUNCTION settle_alone(
  p_account_id TEXT,
  p_exchange_id TEXT,
  p_amount_picos BIGINT,
  -- As for settle_exchanges.
  p_exchange TEXT,
  p_report_day TEXT,
  p_usage_month TEXT,
  p_usage_key_month TEXT,
  p_token_minute TEXT,
  p_answer_state TEXT
) RETURNS BOOLEAN
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
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
