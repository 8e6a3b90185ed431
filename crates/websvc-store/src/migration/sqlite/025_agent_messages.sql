-- The texts about the ends of runs, which lists of runs show. They are not in agent_runs, where SQLite would read the
-- result to get to a later column.
CREATE TABLE agent_messages (
    run INTEGER PRIMARY KEY REFERENCES agent_runs (number) ON DELETE CASCADE,
    content TEXT NOT NULL
) STRICT;
