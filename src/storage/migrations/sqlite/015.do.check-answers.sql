-- What each running gateway found when an operator requested a check of a channel (`channel_check`).
CREATE TABLE channel_check_answer (
  check_id TEXT NOT NULL,
  node TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  is_complete INTEGER NOT NULL, -- 1: no further model follows
  detail TEXT NOT NULL, -- JSON, see channels/cluster/check-answers.ts
  PRIMARY KEY (check_id, node)
) STRICT, WITHOUT ROWID;
