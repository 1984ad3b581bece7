-- A check calls decide_requests directly: it, too, has to keep one plan for each of its statements and to
-- find rows by their keys, or the connection would keep plans that were made while tables were small.
ALTER FUNCTION decide_requests(BIGINT, BOOLEAN, TEXT[], TEXT[], TEXT[], BIGINT[], TEXT[], BIGINT[], BIGINT[],
  BIGINT[], INTEGER[], BIGINT[]) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION decide_requests(BIGINT, BOOLEAN, TEXT[], TEXT[], TEXT[], BIGINT[], TEXT[], BIGINT[], BIGINT[],
  BIGINT[], INTEGER[], BIGINT[]) SET enable_seqscan = off;
