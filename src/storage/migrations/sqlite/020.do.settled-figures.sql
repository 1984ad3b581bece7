-- What settling a request records besides its charge: more facts of the exchange, the figures of reports,
-- what each key has used, and the tokens of the last minute where a limit counts them.

-- Tokens per minute that the account or the key may use; 0 = no limit.
ALTER TABLE account ADD COLUMN tokens_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0);
ALTER TABLE key ADD COLUMN tokens_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0);
DROP TRIGGER account_updated;
CREATE TRIGGER account_updated
AFTER UPDATE OF name, status, daily_limit_picos, rpm, window_minutes, price_multiplier_ppm, tokens_per_minute
ON account
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'accounts'; END;

ALTER TABLE exchange ADD COLUMN first_event_ms INTEGER; -- from its start to the first event or byte delivered
ALTER TABLE exchange ADD COLUMN attempts TEXT; -- JSON array, see ledger/ledger.ts; NULL = recorded before this
ALTER TABLE exchange ADD COLUMN code TEXT; -- where the answer was an error of the gateway
ALTER TABLE exchange ADD COLUMN client TEXT NOT NULL DEFAULT ''; -- family of its user agent; '' = unknown
ALTER TABLE exchange ADD COLUMN address TEXT NOT NULL DEFAULT ''; -- as the setting record_addresses says
-- What the answer cost the operator, by the prices of its channel.
ALTER TABLE exchange ADD COLUMN own_cost_picos INTEGER NOT NULL DEFAULT 0 CHECK (own_cost_picos >= 0);
ALTER TABLE exchange ADD COLUMN is_own_cost_known INTEGER NOT NULL DEFAULT 0;

-- Figures of reports, kept for ever. A request belongs to the UTC day on which it ended. The columns
-- first_event_… count requests by their time to the first event: up to that many milliseconds, and more
-- than the column before.
CREATE TABLE report_day (
  day TEXT NOT NULL, -- YYYY-MM-DD, UTC
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL, -- '' = none answered, or no longer known
  requests INTEGER NOT NULL,
  charged_requests INTEGER NOT NULL,
  errors INTEGER NOT NULL, -- ended neither completed nor because the client left
  failovers INTEGER NOT NULL, -- attempts after the first
  known_cost_requests INTEGER NOT NULL, -- requests whose own cost is known
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  first_event_le_100 INTEGER NOT NULL,
  first_event_le_200 INTEGER NOT NULL,
  first_event_le_300 INTEGER NOT NULL,
  first_event_le_500 INTEGER NOT NULL,
  first_event_le_750 INTEGER NOT NULL,
  first_event_le_1000 INTEGER NOT NULL,
  first_event_le_1500 INTEGER NOT NULL,
  first_event_le_2000 INTEGER NOT NULL,
  first_event_le_3000 INTEGER NOT NULL,
  first_event_le_5000 INTEGER NOT NULL,
  first_event_le_7500 INTEGER NOT NULL,
  first_event_le_10000 INTEGER NOT NULL,
  first_event_le_20000 INTEGER NOT NULL,
  first_event_le_60000 INTEGER NOT NULL,
  first_event_above INTEGER NOT NULL,
  revenue_picos INTEGER NOT NULL, -- charges; refunds are not subtracted
  own_cost_picos INTEGER NOT NULL,
  lost_cost_picos INTEGER NOT NULL, -- estimated cost of what no account pays
  refunded_picos INTEGER NOT NULL, -- of these charges, whenever they were refunded
  PRIMARY KEY (day, account_id, key_id, model, channel)
) STRICT, WITHOUT ROWID;
CREATE INDEX report_day_by_account ON report_day (account_id, day);

-- What each key has used: charges less refunds.
CREATE TABLE usage_key_month (
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  month TEXT NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  cost_picos INTEGER NOT NULL,
  PRIMARY KEY (account_id, key_id, month)
) STRICT, WITHOUT ROWID;

-- Input and output tokens of requests by the second in which they ended, of accounts and keys with a
-- limit of tokens per minute. Rows older than two minutes are deleted.
CREATE TABLE token_minute (
  account_id TEXT NOT NULL,
  second INTEGER NOT NULL, -- since 1970
  key_id TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (account_id, second, key_id)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_key_month (account_id, key_id, month, cost_picos)
SELECT account_id, key_id, substr(day, 1, 7), SUM(cost_picos) FROM usage_day GROUP BY 1, 2, 3
UNION ALL
SELECT account_id, key_id, 'total', SUM(cost_picos) FROM usage_day GROUP BY 1, 2;

-- Days whose exchanges are kept; the earlier ones are known by account, key and model only.
INSERT INTO report_day
SELECT day, account_id, key_id, model, channel, COUNT(*), SUM(amount_picos > 0),
  SUM(ending NOT IN ('completed', 'client_left')), SUM(MAX(attempt_count - 1, 0)), 0,
  SUM(input), SUM(output), SUM(cached - MIN(written, cached)), SUM(MIN(written, cached)),
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  SUM(amount_picos), 0, SUM(operator_cost_picos), 0
FROM (
  SELECT date(ended_at_ms / 1000, 'unixepoch') AS day, account_id, key_id, model,
    COALESCE(channel, '') AS channel, amount_picos, ending, attempt_count, operator_cost_picos,
    COALESCE(usage ->> '$.reported.inputTokens', 0) AS input,
    COALESCE(usage ->> '$.reported.outputTokens', 0) AS output,
    COALESCE(usage ->> '$.reported.cacheTokens', 0) AS cached,
    COALESCE((SELECT SUM(COALESCE(value ->> '$.counts.cache_write_5m', 0)
                       + COALESCE(value ->> '$.counts.cache_write_1h', 0))
                FROM json_each(usage, '$.parts')), 0) AS written
    FROM exchange
   WHERE ended_at_ms >= (SELECT COALESCE(MAX(cut_ms), 0) FROM exchange_cut)
)
GROUP BY day, account_id, key_id, model, channel;

INSERT INTO report_day
SELECT day, account_id, key_id, model, '', requests, requests, 0, 0, 0,
  input_tokens, output_tokens, cache_tokens, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  cost_picos, 0, 0, 0
FROM usage_day
WHERE day < (SELECT date(COALESCE(MAX(cut_ms), 0) / 1000, 'unixepoch') FROM exchange_cut);
