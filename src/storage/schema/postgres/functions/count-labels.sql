-- Gives the labels of a batch their places in label_day, the first 200 of a day and account, and returns the
-- batch's rows of report_day by the labels that count: one without a place counts as `other`. The rows of their
-- accounts are locked already, so no other batch takes the same place. Called only where there are labels.
CREATE OR REPLACE FUNCTION count_labels(
  p_report_day TEXT -- as for settle_exchanges
) RETURNS TEXT
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  v_reports report_day[] := p_report_day;
  v_new RECORD;
BEGIN
  FOR v_new IN
    SELECT DISTINCT r.account_id, r.day, r.label FROM unnest(v_reports) r
     WHERE r.label NOT IN ('', 'other') AND NOT EXISTS (
       SELECT 1 FROM label_day l WHERE l.account_id = r.account_id AND l.day = r.day AND l.label = r.label)
  LOOP
    INSERT INTO label_day (account_id, day, label)
    SELECT v_new.account_id, v_new.day, v_new.label
     WHERE (SELECT COUNT(*) FROM label_day l WHERE l.account_id = v_new.account_id AND l.day = v_new.day) < 200;
  END LOOP;
  RETURN ARRAY(
    SELECT ROW(r.day, r.account_id, r.key_id, r.model, r.channel, r.counted,
      SUM(r.requests)::bigint, SUM(r.charged_requests)::bigint, SUM(r.errors)::bigint,
      SUM(r.failovers)::bigint, SUM(r.known_cost_requests)::bigint, SUM(r.input_tokens)::bigint,
      SUM(r.output_tokens)::bigint, SUM(r.cache_read_tokens)::bigint, SUM(r.cache_write_tokens)::bigint,
      SUM(r.prompt_tokens)::bigint, SUM(r.first_event_le_100)::bigint, SUM(r.first_event_le_200)::bigint,
      SUM(r.first_event_le_300)::bigint, SUM(r.first_event_le_500)::bigint, SUM(r.first_event_le_750)::bigint,
      SUM(r.first_event_le_1000)::bigint, SUM(r.first_event_le_1500)::bigint,
      SUM(r.first_event_le_2000)::bigint, SUM(r.first_event_le_3000)::bigint,
      SUM(r.first_event_le_5000)::bigint, SUM(r.first_event_le_7500)::bigint,
      SUM(r.first_event_le_10000)::bigint, SUM(r.first_event_le_20000)::bigint,
      SUM(r.first_event_le_60000)::bigint, SUM(r.first_event_above)::bigint, SUM(r.revenue_picos)::bigint,
      SUM(r.own_cost_picos)::bigint, SUM(r.lost_cost_picos)::bigint, SUM(r.refunded_picos)::bigint,
      SUM(r.unknown_cost_revenue_picos)::bigint)::report_day
      FROM (
        SELECT r.*, CASE WHEN r.label = '' OR l.label IS NOT NULL THEN r.label ELSE 'other' END AS counted
          FROM unnest(v_reports) r
          LEFT JOIN label_day l ON l.account_id = r.account_id AND l.day = r.day AND l.label = r.label) r
     GROUP BY r.day, r.account_id, r.key_id, r.model, r.channel, r.counted)::text;
END $$;
