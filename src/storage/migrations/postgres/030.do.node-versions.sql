-- Which program each gateway runs, and whether it drains. Gateways of earlier versions leave the defaults.
ALTER TABLE gateway_node ADD COLUMN version TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE gateway_node ADD COLUMN commit_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE gateway_node ADD COLUMN is_draining BIGINT NOT NULL DEFAULT 0;
