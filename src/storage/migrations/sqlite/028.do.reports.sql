-- Reports say how much of the revenue lacks an own cost, and keep the figures of moments of a day, so that today
-- can be compared with yesterday up to the same time.

-- Charges less refunds of the requests whose own cost is not known.
ALTER TABLE report_day ADD COLUMN unknown_cost_revenue_picos INTEGER NOT NULL DEFAULT 0;

UPDATE report_day SET unknown_cost_revenue_picos = revenue_picos - refunded_picos
 WHERE known_cost_requests < requests;

-- Where the own cost of some requests of a row is known, their exchanges say which. Without such a row no exchange
-- is read.
UPDATE report_day AS r SET unknown_cost_revenue_picos = unknown.picos
  FROM (
    SELECT date(x.ended_at_ms / 1000, 'unixepoch') AS day,
      x.account_id, x.key_id, x.model, COALESCE(x.channel, '') AS channel,
      SUM(x.amount_picos - COALESCE(e.amount_picos, 0)) AS picos
      FROM exchange x
      LEFT JOIN entry e ON e.account_id = x.account_id AND e.reference = 'refund:' || x.exchange_id
       AND e.kind = 'refund'
     WHERE EXISTS (SELECT 1 FROM report_day WHERE known_cost_requests BETWEEN 1 AND requests - 1)
       AND x.is_own_cost_known = 0
       AND x.ended_at_ms >= (SELECT COALESCE(MAX(cut_ms), 0) FROM exchange_cut)
     GROUP BY 1, 2, 3, 4, 5
  ) unknown
 WHERE r.known_cost_requests BETWEEN 1 AND r.requests - 1
   AND unknown.day = r.day AND unknown.account_id = r.account_id AND unknown.key_id = r.key_id
   AND unknown.model = r.model AND unknown.channel = r.channel;

-- The sums of report_day over all accounts at a moment of the day. Rows older than a few days are deleted.
CREATE TABLE report_moment (
  day TEXT NOT NULL, -- YYYY-MM-DD, UTC
  minute INTEGER NOT NULL, -- of the day
  figures TEXT NOT NULL, -- JSON, by the columns of report_day
  PRIMARY KEY (day, minute)
) STRICT, WITHOUT ROWID;
