-- What a model offers (`chat`, `responses`, `embeddings`, `completions`), with commas between them.
-- NULL: all that its prices allow.
ALTER TABLE model ADD COLUMN operations TEXT;
