-- From here on rows of exchanges have usage and attempts without names; see ledger/stored-usage.ts and
-- ledger/stored-attempts.ts. Earlier rows stay as they are. Earlier programs do not read the new form, so they
-- must refuse the store: that is what this number is for.
SELECT 1;
