-- Gateways that ended without a clean stop: what they served then is not recorded.
CREATE TABLE unclean_stop (
  node TEXT PRIMARY KEY, -- id of the process, as in gateway_node
  name TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL, -- its last heartbeat
  found_at_ms INTEGER NOT NULL -- another process found that it was gone
) STRICT, WITHOUT ROWID;
