-- Health of each model on each channel as the gateway last knew it, so that a restart resumes on
-- trial what was not well. Only the last state is kept here.
CREATE TABLE channel_health (
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  why TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  saved_at_ms INTEGER NOT NULL,
  detail TEXT NOT NULL, -- JSON, see channels/health-saved.ts
  PRIMARY KEY (channel, model)
) STRICT, WITHOUT ROWID;
