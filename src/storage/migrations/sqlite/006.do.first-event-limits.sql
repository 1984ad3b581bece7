-- What an operator says about how long answers may take to begin: a model's own limit, and times that
-- count as usual for a model on a channel, in place of what the gateway would learn.
ALTER TABLE model ADD COLUMN first_event_timeout_ms INTEGER CHECK (first_event_timeout_ms > 0);
ALTER TABLE channel ADD COLUMN baselines TEXT NOT NULL DEFAULT '{}'; -- JSON: model → p50Ms, p95Ms
