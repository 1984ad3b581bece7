-- What only SQLite has beside the tables of tables.sql: triggers, and how its planner reads a table.

-- === Rows that are never changed or deleted ===

CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER sealed_entry_is_never_changed BEFORE UPDATE ON sealed_entry
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER sealed_entry_is_never_deleted BEFORE DELETE ON sealed_entry
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER sealed_head_is_never_changed BEFORE UPDATE ON sealed_head
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER sealed_head_is_never_deleted BEFORE DELETE ON sealed_head
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER channel_change_is_never_changed BEFORE UPDATE ON channel_change
BEGIN SELECT RAISE(ABORT, 'the history of channels is append-only'); END;
CREATE TRIGGER channel_change_is_never_deleted BEFORE DELETE ON channel_change
BEGIN SELECT RAISE(ABORT, 'the history of channels is append-only'); END;
CREATE TRIGGER operator_cost_is_never_changed BEFORE UPDATE ON operator_cost
BEGIN SELECT RAISE(ABORT, 'costs are append-only'); END;
CREATE TRIGGER operator_cost_is_never_deleted BEFORE DELETE ON operator_cost
BEGIN SELECT RAISE(ABORT, 'costs are append-only'); END;
CREATE TRIGGER operator_action_is_never_changed BEFORE UPDATE ON operator_action
BEGIN SELECT RAISE(ABORT, 'the log of operators'' actions is append-only'); END;
CREATE TRIGGER operator_action_is_never_deleted BEFORE DELETE ON operator_action
BEGIN SELECT RAISE(ABORT, 'the log of operators'' actions is append-only'); END;
CREATE TRIGGER exchange_is_never_changed BEFORE UPDATE ON exchange
BEGIN SELECT RAISE(ABORT, 'exchanges are recorded once'); END;

-- === Changes that running gateways follow ===

CREATE TRIGGER key_inserted AFTER INSERT ON key
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'access'; END;
CREATE TRIGGER key_updated AFTER UPDATE ON key
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'access'; END;
CREATE TRIGGER account_inserted AFTER INSERT ON account
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'accounts'; END;
CREATE TRIGGER account_updated
AFTER UPDATE OF name, status, daily_limit_picos, monthly_limit_picos, credit_line_picos, holds, has_paid, rpm,
  window_minutes, price_multiplier_ppm, tokens_per_minute
ON account
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'accounts'; END;
CREATE TRIGGER entry_by_operator AFTER INSERT ON entry WHEN NEW.kind <> 'charge'
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'balances'; END;
CREATE TRIGGER vendor_inserted AFTER INSERT ON vendor
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER vendor_updated AFTER UPDATE ON vendor
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER model_inserted AFTER INSERT ON model
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER model_updated AFTER UPDATE ON model
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER price_inserted AFTER INSERT ON price
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER price_updated AFTER UPDATE ON price
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER channel_inserted AFTER INSERT ON channel
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER channel_updated AFTER UPDATE ON channel
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;

-- === Plans ===

-- Nothing else tells SQLite how many rows share a day: without this it reads the whole day for one account's.
-- Reports by account still read the table in its own order, which `noskipscan` is for.
ANALYZE report_day;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('report_day', 'report_day', '1000000 3000 300 100 3 1'),
  ('report_day', 'report_day_by_account', '1000000 3000 10 3 noskipscan');
ANALYZE sqlite_schema;
