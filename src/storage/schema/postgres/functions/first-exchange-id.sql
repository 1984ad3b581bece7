-- Smaller than every exchange id made at or after this time; see base/id.ts.
CREATE OR REPLACE FUNCTION first_exchange_id(p_at_ms BIGINT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
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
