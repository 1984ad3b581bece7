-- What operators see of channels, and what several gateways on one store tell each other: the
-- history of states, the live state as each node publishes it, who makes the regular checks, and
-- what checks have cost. Times are UTC milliseconds of the store, money is pico-dollars.

-- Append-only. One row per change of a model's state on a channel, and per word of an operator's.
CREATE TABLE channel_change (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE, -- made by the writer, so that a repeated write adds nothing
  at_ms BIGINT NOT NULL,
  node TEXT NOT NULL DEFAULT '', -- empty: an operator's word, which goes for every node
  channel TEXT NOT NULL,
  model TEXT NOT NULL DEFAULT '', -- empty: all models of the channel
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  why TEXT NOT NULL,
  actor TEXT, -- the operator
  detail TEXT NOT NULL DEFAULT '{}' -- JSON, see channels/channel-change.ts
);
CREATE INDEX channel_change_by_channel ON channel_change (channel, at_ms, sequence);
CREATE INDEX channel_change_by_time ON channel_change (at_ms, sequence);

CREATE FUNCTION refuse_change_of_channel_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the history of channels is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER channel_change_is_never_changed BEFORE UPDATE ON channel_change
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_channel_change();
CREATE TRIGGER channel_change_is_never_deleted BEFORE DELETE ON channel_change
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_channel_change();
CREATE TRIGGER channel_change_is_never_emptied BEFORE TRUNCATE ON channel_change
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_channel_change();

-- Gateway processes on this store. One that has not been seen for a while, or has ended, is gone.
CREATE TABLE gateway_node (
  id TEXT PRIMARY KEY, -- of the process
  name TEXT NOT NULL, -- as operators call it
  region TEXT NOT NULL,
  started_at_ms BIGINT NOT NULL,
  seen_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT
);

-- What each node last published. The rows of a node that is gone stay until another one publishes.
CREATE TABLE channel_state (
  node TEXT NOT NULL,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  why TEXT NOT NULL,
  since_ms BIGINT NOT NULL,
  published_at_ms BIGINT NOT NULL,
  detail TEXT NOT NULL, -- JSON, see channels/published-state.ts
  PRIMARY KEY (node, channel, model)
);

-- Tasks that one node at a time does.
CREATE TABLE node_lease (
  task TEXT PRIMARY KEY,
  node TEXT NOT NULL,
  expires_at_ms BIGINT NOT NULL
);

-- An operator wants a channel checked now; every running gateway takes each row once.
CREATE TABLE channel_check (
  id TEXT PRIMARY KEY,
  asked_at_ms BIGINT NOT NULL,
  channel TEXT NOT NULL
);

-- Append-only. What the gateway's own requests cost the operator; charged to no account.
CREATE TABLE operator_cost (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  at_ms BIGINT NOT NULL,
  node TEXT NOT NULL, -- empty: an operator's command
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('check')),
  usage TEXT NOT NULL, -- JSON: counts by price class
  amount_picos BIGINT NOT NULL CHECK (amount_picos >= 0)
);
CREATE INDEX operator_cost_by_channel ON operator_cost (channel, at_ms);

CREATE FUNCTION refuse_change_of_operator_cost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'costs are append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER operator_cost_is_never_changed BEFORE UPDATE ON operator_cost
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_operator_cost();
CREATE TRIGGER operator_cost_is_never_deleted BEFORE DELETE ON operator_cost
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_operator_cost();
CREATE TRIGGER operator_cost_is_never_emptied BEFORE TRUNCATE ON operator_cost
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_operator_cost();
