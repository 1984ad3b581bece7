-- Which program each gateway runs, and whether it drains. Gateways of earlier versions leave the defaults.
ALTER TABLE gateway_node ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE gateway_node ADD COLUMN commit_id TEXT NOT NULL DEFAULT '';
ALTER TABLE gateway_node ADD COLUMN is_draining INTEGER NOT NULL DEFAULT 0;
