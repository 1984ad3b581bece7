-- What an operator notes down about an account, and whether it is closed. A closed account has the status
-- 'suspended' as well, so that gateways of an earlier version refuse its keys, too.
ALTER TABLE account ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN contact TEXT NOT NULL DEFAULT ''; -- e-mail address
ALTER TABLE account ADD COLUMN external_id TEXT; -- the operator's own id of the account holder
ALTER TABLE account ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}'; -- JSON object of texts
ALTER TABLE account ADD COLUMN closed_at_ms INTEGER; -- NULL = not closed
CREATE UNIQUE INDEX account_by_external_id ON account (external_id);
