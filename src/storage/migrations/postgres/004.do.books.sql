-- What looking after the books for years needs: how far an account has been found right, and which
-- exchanges are no longer kept.

-- All entries of the account with a time before `through_ms` have been found right and came to
-- `balance_picos`. Always 00:00 UTC of some day. Lost without harm: the next audit begins anew.
CREATE TABLE audit_checkpoint (
  account_id TEXT COLLATE "C" PRIMARY KEY REFERENCES account (id),
  through_ms BIGINT NOT NULL,
  balance_picos BIGINT NOT NULL,
  audited_at_ms BIGINT NOT NULL
);

-- Exchanges that ended before the newest `cut_ms` may be gone; written before the first of them
-- goes. Always 00:00 UTC of some day. Entries and figures are kept for ever.
CREATE TABLE exchange_cut (
  cut_ms BIGINT PRIMARY KEY,
  decided_at_ms BIGINT NOT NULL
);
