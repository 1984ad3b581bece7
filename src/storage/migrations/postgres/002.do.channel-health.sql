-- Health of each model on each channel as the gateway last knew it, so that a restart resumes on
-- trial what was not well. Only the last state is kept here.
CREATE TABLE channel_health (
  channel TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  why TEXT COLLATE "C" NOT NULL,
  since_ms BIGINT NOT NULL,
  saved_at_ms BIGINT NOT NULL,
  detail TEXT COLLATE "C" NOT NULL, -- JSON, see channels/health-saved.ts
  PRIMARY KEY (channel, model)
);
