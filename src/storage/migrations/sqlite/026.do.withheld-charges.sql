-- A charge is withheld only where holds expire, which they do on PostgreSQL. Nothing changes here.
SELECT 1;
