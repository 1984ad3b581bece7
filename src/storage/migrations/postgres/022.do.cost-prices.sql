-- What the operator pays on a channel: JSON in the form of the catalogue's `cost:`. NULL: not known.
ALTER TABLE channel ADD COLUMN cost TEXT;
-- 1: priced at the channel's cost prices. 0: at list price, an estimate.
ALTER TABLE operator_cost ADD COLUMN is_own_cost_known INTEGER NOT NULL DEFAULT 0;
