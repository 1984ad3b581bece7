-- How long pings alone keep a stream of the model alive, where it differs from the gateway's setting.
ALTER TABLE model ADD COLUMN ping_timeout_ms INTEGER CHECK (ping_timeout_ms > 0);
