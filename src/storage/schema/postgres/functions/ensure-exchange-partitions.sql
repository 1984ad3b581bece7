-- Gives every month from the one of p_from_ms to the one of p_to_ms a partition, and moves the rows that the
-- default one has taken for it. Idempotent. The default one must be locked for that, and while a call waits
-- for the lock, all later ones wait, charges too: so where a transaction reads it, as a dump does for long,
-- no partition is made now, and the next call tries again.
CREATE OR REPLACE FUNCTION ensure_exchange_partitions(p_from_ms BIGINT, p_to_ms BIGINT) RETURNS VOID
LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
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
