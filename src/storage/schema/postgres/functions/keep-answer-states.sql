-- Stores a JSON array of rows of answer_state. The latest answer wins. Called in the statement that settles their
-- exchanges, so both are in one commit.
CREATE OR REPLACE FUNCTION keep_answer_states(p_states JSON) RETURNS BOOLEAN
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  INSERT INTO answer_state (vendor, id, kind, account_id, channel, model, response_id, input_tokens,
    output_tokens, expires_at_ms)
  SELECT DISTINCT ON (s.vendor, s.id, s.kind, s.account_id) s.vendor, s.id, s.kind, s.account_id,
    s.channel, s.model, s.response_id, s.input_tokens, s.output_tokens, s.expires_at_ms
    FROM json_to_recordset(p_states) AS s (vendor TEXT, id TEXT, kind TEXT, account_id TEXT,
      channel TEXT, model TEXT, response_id TEXT, input_tokens BIGINT, output_tokens BIGINT,
      expires_at_ms BIGINT)
   ORDER BY s.vendor, s.id, s.kind, s.account_id, s.expires_at_ms DESC
  ON CONFLICT (vendor, id, kind, account_id) DO UPDATE SET
    channel = excluded.channel, model = excluded.model, response_id = excluded.response_id,
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    expires_at_ms = excluded.expires_at_ms;
  RETURN TRUE;
END $$;
