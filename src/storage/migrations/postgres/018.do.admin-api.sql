-- What the admin API needs: roles of admin tokens, the last use of keys, answers to requests that may be
-- repeated, and a log of operators' actions that the store itself keeps from edits.

ALTER TABLE key ADD COLUMN role TEXT COLLATE "C" CHECK (role IN ('viewer', 'operator', 'owner')); -- of admin tokens
UPDATE key SET role = 'owner' WHERE kind = 'admin';

-- Apart from the key, so that noting its use does not make gateways read their keys again.
CREATE TABLE key_use (
  key_id TEXT COLLATE "C" PRIMARY KEY,
  last_used_at_ms BIGINT NOT NULL
);

-- One row per request with an Idempotency-Key, kept for a day. The answer holds no secret.
CREATE TABLE idempotency_key (
  token_id TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL, -- as the client sent it
  request_hash TEXT COLLATE "C" NOT NULL,
  answer TEXT COLLATE "C" NOT NULL, -- JSON
  created_at_ms BIGINT NOT NULL,
  PRIMARY KEY (token_id, name)
);
CREATE INDEX idempotency_key_by_time ON idempotency_key (created_at_ms);

CREATE TRIGGER operator_action_is_never_changed BEFORE UPDATE ON operator_action
FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operator_action_is_never_deleted BEFORE DELETE ON operator_action
FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operator_action_is_never_emptied BEFORE TRUNCATE ON operator_action
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
