-- Raises the counter of the area that the trigger names, and tells every node that listens.
CREATE OR REPLACE FUNCTION raise_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE revision SET number = number + 1 WHERE area = TG_ARGV[0];
  PERFORM pg_notify('turnpike_revision', TG_ARGV[0]);
  RETURN NULL;
END $$;
