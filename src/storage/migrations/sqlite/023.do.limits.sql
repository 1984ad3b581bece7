-- Limits of keys: a month, all time, requests per minute.

ALTER TABLE key ADD COLUMN monthly_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (monthly_limit_picos >= 0);
ALTER TABLE key ADD COLUMN total_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (total_limit_picos >= 0);
ALTER TABLE key ADD COLUMN rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0);
