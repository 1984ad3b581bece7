-- Peers that forward requests to a node and are not among its trusted proxies; `doctor` shows them.
ALTER TABLE gateway_node ADD COLUMN unlisted_proxies TEXT NOT NULL DEFAULT '[]'; -- JSON: addresses
