-- Exchanges of known callers that nothing is charged for: the gateway refused them before it held money, or
-- what they asked for is free. Without content. A flood has one row for many.
CREATE TABLE free_exchange (
  account_id TEXT COLLATE "C" NOT NULL,
  exchange_id TEXT COLLATE "C" NOT NULL, -- time-ordered
  key_id TEXT COLLATE "C" NOT NULL,
  vendor TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C", -- NULL = none of the catalogue, or not read
  operation TEXT COLLATE "C", -- NULL = the path is none of an operation
  channel TEXT COLLATE "C",
  started_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT NOT NULL, -- of the last exchange that the row counts
  ending TEXT COLLATE "C" NOT NULL,
  status INTEGER NOT NULL,
  code TEXT COLLATE "C", -- where the answer was an error of the gateway
  vendor_request_id TEXT COLLATE "C",
  attempts TEXT COLLATE "C", -- JSON array as in table exchange
  client TEXT COLLATE "C" NOT NULL DEFAULT '', -- family of its user agent; '' = unknown
  address TEXT COLLATE "C" NOT NULL DEFAULT '', -- as the setting record_addresses says
  stands_for BIGINT NOT NULL DEFAULT 1, -- how many exchanges the row counts
  PRIMARY KEY (account_id, exchange_id)
);

-- The request log reads the newest rows of all accounts, and finds those that a filter selects without the
-- rows themselves.
CREATE INDEX free_exchange_log ON free_exchange
  (exchange_id, account_id, key_id, model, channel, status, code);
CREATE INDEX exchange_log ON exchange
  (exchange_id, account_id, key_id, model, channel, status, code);

-- A request is found by the vendor's own id too.
CREATE INDEX free_exchange_by_vendor_request ON free_exchange (vendor_request_id)
  WHERE vendor_request_id IS NOT NULL;
CREATE INDEX exchange_by_vendor_request ON exchange (vendor_request_id)
  WHERE vendor_request_id IS NOT NULL;
