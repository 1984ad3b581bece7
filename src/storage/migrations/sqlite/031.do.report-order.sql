-- The rows of report_day in an order that adds up a day by model without sorting.
ALTER TABLE report_day RENAME TO report_day_before;
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
  unknown_cost_revenue_picos INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (day, model, channel, account_id, key_id)
) STRICT, WITHOUT ROWID;
INSERT INTO report_day SELECT * FROM report_day_before ORDER BY day, model, channel, account_id, key_id;
DROP TABLE report_day_before;
CREATE INDEX report_day_by_account ON report_day (account_id, day);
