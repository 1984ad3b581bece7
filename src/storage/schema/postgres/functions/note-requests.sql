-- Moves the sign by which gateways notice that requests were recorded.
CREATE OR REPLACE FUNCTION note_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM nextval('recorded_requests');
  RETURN NULL;
END $$;
