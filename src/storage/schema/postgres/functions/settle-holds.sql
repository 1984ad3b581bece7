-- Books ended exchanges as settle_exchanges does. Where an exchange has no hold any more, because its node
-- was away for longer than its lease, and balance and credit line less holds do not cover its whole charge, nothing is
-- charged: the exchange is recorded as failed, with the code of the error that its client got, and the charge
-- becomes the operator's cost. Returns the places of such records, counted from 1, also where an earlier call
-- has recorded them.
CREATE OR REPLACE FUNCTION settle_holds(
  p_account_ids TEXT[], -- of the records; NULL = their rows are locked already
  p_records JSON -- as for settle_exchanges
) RETURNS INTEGER[]
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_freed RECORD;
  v_account_id TEXT;
  v_left BIGINT; -- balance and line less holds, after the records of the call that have a hold
  v_withheld INTEGER[] := '{}';
  v_records JSON := p_records;
BEGIN
  IF p_account_ids IS NOT NULL THEN
    PERFORM 1 FROM account a WHERE a.id = ANY (p_account_ids) ORDER BY a.id FOR NO KEY UPDATE;
  END IF;
  FOR v_freed IN
    SELECT e.place, r.account_id, r.amount_picos, x.amount_picos AS recorded_picos
      FROM json_array_elements(p_records) WITH ORDINALITY AS e (record, place)
      CROSS JOIN LATERAL json_to_record(e.record)
        AS r (account_id TEXT, exchange_id TEXT, amount_picos BIGINT)
      LEFT JOIN exchange x ON x.account_id = r.account_id AND x.exchange_id = r.exchange_id
     WHERE r.amount_picos > 0 AND NOT EXISTS (
       SELECT 1 FROM hold h WHERE h.account_id = r.account_id AND h.exchange_id = r.exchange_id)
     ORDER BY r.account_id, e.place
  LOOP
    IF v_freed.recorded_picos > 0 THEN
      CONTINUE;
    END IF;
    IF v_account_id IS DISTINCT FROM v_freed.account_id THEN
      v_account_id := v_freed.account_id;
      SELECT a.balance_picos + a.credit_line_picos - a.held_picos
           + COALESCE(SUM(h.amount_picos - r.amount_picos), 0) INTO v_left
        FROM account a
        LEFT JOIN (json_to_recordset(p_records)
            AS r (account_id TEXT, exchange_id TEXT, amount_picos BIGINT)
          JOIN hold h ON h.account_id = r.account_id AND h.exchange_id = r.exchange_id)
          ON r.account_id = a.id
       WHERE a.id = v_account_id
       GROUP BY a.id;
    END IF;
    IF v_freed.recorded_picos IS NULL AND v_freed.amount_picos <= v_left THEN
      v_left := v_left - v_freed.amount_picos;
    ELSE
      v_withheld := array_append(v_withheld, v_freed.place::int);
    END IF;
  END LOOP;

  IF v_withheld <> '{}' THEN
    SELECT json_agg(CASE WHEN e.place = ANY (v_withheld)
        THEN e.record::jsonb || jsonb_build_object(
          'ending', 'failed',
          'code', 'ledger.unavailable',
          'amount_picos', 0,
          'usage', NULL,
          'marks', 'hold_expired',
          'price_lines', '',
          'own_cost_picos', 0,
          'is_own_cost_known', 0,
          'input_tokens', 0,
          'output_tokens', 0,
          'cache_tokens', 0,
          'cache_write_tokens', 0,
          'prompt_tokens', 0,
          'operator_cost_picos', (e.record ->> 'operator_cost_picos')::bigint
            + (e.record ->> 'amount_picos')::bigint)
        ELSE e.record::jsonb END) INTO v_records
      FROM json_array_elements(p_records) WITH ORDINALITY AS e (record, place);
  END IF;
  PERFORM settle_exchanges(NULL, v_records);
  RETURN v_withheld;
END $$;
