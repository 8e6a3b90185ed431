-- The texts about the ends of runs, which lists of runs show.
CREATE TABLE agent_messages (
    run BIGINT PRIMARY KEY REFERENCES agent_runs (number) ON DELETE CASCADE,
    content TEXT NOT NULL
);
