-- Frees holds without a charge; those that are gone already do not matter.
CREATE OR REPLACE FUNCTION release_holds(p_account_ids TEXT[], p_exchange_ids TEXT[]) RETURNS VOID
LANGUAGE plpgsql AS $$
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
