-- State of earlier answers that a vendor keeps, or that only its account can read: a later request may name
-- it, and no other account may. It holds no content.
CREATE TABLE answer_state (
  vendor TEXT NOT NULL,
  id TEXT NOT NULL, -- the vendor's; of encrypted content its SHA-256 as base64url
  kind TEXT NOT NULL CHECK (kind IN ('response', 'item', 'encrypted')),
  account_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  response_id TEXT, -- the stored answer it belongs to
  input_tokens BIGINT NOT NULL, -- of that answer
  output_tokens BIGINT NOT NULL,
  expires_at_ms BIGINT NOT NULL,
  PRIMARY KEY (vendor, id, kind, account_id)
);
CREATE INDEX answer_state_response ON answer_state (response_id) WHERE response_id IS NOT NULL;
CREATE INDEX answer_state_expiry ON answer_state (expires_at_ms);

-- Stores a JSON array of such rows. The latest answer wins. Called in the statement that settles their
-- exchanges, so both are in one commit.
CREATE FUNCTION keep_answer_states(p_states JSON) RETURNS BOOLEAN
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

-- Whether requests may name stored answers of the vendor: `own` or `refuse`.
ALTER TABLE vendor ADD COLUMN stored_responses TEXT NOT NULL DEFAULT 'own';
