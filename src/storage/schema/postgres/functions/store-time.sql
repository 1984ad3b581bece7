-- The moment by which all nodes agree: the server's, unless a test holds time still.
CREATE OR REPLACE FUNCTION store_time(p_now_ms BIGINT) RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
  SELECT COALESCE(p_now_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;
