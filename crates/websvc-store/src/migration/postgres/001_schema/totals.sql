-- Totals of tables are divided into rows, so that transactions that change them at the same time rarely wait for each
-- other. A total is the sum of its rows, each of which may be negative.

-- The row of the total that this session changes.
CREATE FUNCTION total_row() RETURNS BIGINT LANGUAGE sql STABLE AS 'SELECT (1 + pg_backend_pid() % 16)::BIGINT';
