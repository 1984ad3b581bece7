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
  input_tokens INTEGER NOT NULL, -- of that answer
  output_tokens INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (vendor, id, kind, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_state_response ON answer_state (response_id) WHERE response_id IS NOT NULL;
CREATE INDEX answer_state_expiry ON answer_state (expires_at_ms);

-- Whether requests may name stored answers of the vendor: `own` or `refuse`.
ALTER TABLE vendor ADD COLUMN stored_responses TEXT NOT NULL DEFAULT 'own';
