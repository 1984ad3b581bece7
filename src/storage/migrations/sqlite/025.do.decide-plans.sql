-- Nothing to do here; see the PostgreSQL migration of this number.
SELECT 1;
