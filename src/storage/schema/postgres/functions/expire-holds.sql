-- Frees and records the holds of every boot whose lease has passed, but for the caller's own, and
-- forgets such boots. Any number of nodes may do so at once. Returns how many holds it has freed.
CREATE OR REPLACE FUNCTION expire_holds(p_now_ms BIGINT, p_own_boot BIGINT) RETURNS BIGINT
LANGUAGE plpgsql AS $$
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
