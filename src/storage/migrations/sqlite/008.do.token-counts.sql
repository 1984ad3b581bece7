-- The allowance for counting tokens is kept in memory here; see the PostgreSQL migration of this number.
SELECT 1;
