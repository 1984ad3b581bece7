-- Alerts: what is wrong or was, who gets a message of it, and the messages that are still to be sent.

-- An alert is raised when the balance is lower. 0 = never.
ALTER TABLE account ADD COLUMN alert_below_picos INTEGER NOT NULL DEFAULT 0 CHECK (alert_below_picos >= 0);

CREATE TABLE alert_target (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  format TEXT NOT NULL CHECK (format IN ('webhook', 'slack', 'email')),
  address TEXT NOT NULL, -- as it may be shown: an e-mail address, `contact`, or the origin of a URL
  sealed TEXT, -- webhook and slack: JSON of URL and secret, sealed with the master key
  kinds TEXT, -- JSON array; NULL = all
  accounts TEXT, -- JSON array of ids; NULL = all
  channels TEXT, -- JSON array; NULL = all
  min_severity TEXT NOT NULL CHECK (min_severity IN ('info', 'warning', 'critical')),
  quiet_hours TEXT, -- such as '22:00-07:00 Europe/Berlin'
  digest_ms INTEGER NOT NULL CHECK (digest_ms >= 0),
  created_at_ms INTEGER NOT NULL
) STRICT;

-- One row per condition from the moment it holds until it no longer does.
CREATE TABLE alert (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL, -- account, key, channel, model; empty: the installation
  severity TEXT NOT NULL,
  account_id TEXT,
  channel TEXT,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  facts TEXT NOT NULL, -- JSON
  fired_at_ms INTEGER NOT NULL,
  resolved_at_ms INTEGER
) STRICT;
-- However many nodes find a condition, it is one alert.
CREATE UNIQUE INDEX alert_firing ON alert (kind, subject) WHERE resolved_at_ms IS NULL;
CREATE INDEX alert_by_resolution ON alert (resolved_at_ms) WHERE resolved_at_ms IS NOT NULL;

-- The outbox. Written in the transaction of the alert.
CREATE TABLE alert_delivery (
  id TEXT PRIMARY KEY,
  alert_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  recipient TEXT NOT NULL DEFAULT '', -- the contact of an account; empty: the address of the target
  event TEXT NOT NULL CHECK (event IN ('firing', 'resolved')),
  kind TEXT NOT NULL,
  severity TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'dropped')),
  due_at_ms INTEGER NOT NULL,
  -- Chosen before the first attempt and never changed, so that a receiver recognises a repeat.
  message_id TEXT,
  packed_at_ms INTEGER,
  was_quiet INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL DEFAULT '', -- of the last attempt
  created_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  UNIQUE (alert_id, target_id, event)
) STRICT;
CREATE INDEX alert_delivery_waiting ON alert_delivery (target_id, due_at_ms) WHERE state = 'waiting';
CREATE INDEX alert_delivery_packed ON alert_delivery (target_id, recipient, kind, event, packed_at_ms);
CREATE INDEX alert_delivery_by_message ON alert_delivery (message_id);
CREATE INDEX alert_delivery_by_time ON alert_delivery (created_at_ms);

-- Finds the last backup without reading the whole log.
CREATE INDEX operator_action_by_action ON operator_action (action, sequence);
