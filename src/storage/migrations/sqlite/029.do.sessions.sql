-- Sessions of operators in the console, and the codes of sign-in links. Both are kept as SHA-256 only, and every
-- gateway on the store accepts them.

CREATE TABLE session (
  id_hash TEXT PRIMARY KEY,
  token_id TEXT NOT NULL, -- the admin token whose rights it has
  created_at_ms INTEGER NOT NULL,
  last_used_at_ms INTEGER NOT NULL, -- by a person, up to a minute late
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_token ON session (token_id, created_at_ms);

-- A row is deleted when its code is used.
CREATE TABLE sign_in_code (
  code_hash TEXT PRIMARY KEY,
  token_id TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
