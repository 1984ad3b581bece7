-- The most tokens that a model reads, which is held where a vendor's own tools or documents by address add
-- input that no body shows.
ALTER TABLE model ADD COLUMN max_input_tokens BIGINT CHECK (max_input_tokens > 0);
