-- A team's own values of threat protection: its lists, its threshold and what happens when the scanner fails, as JSON in
-- the spelling of `threatProtection` in requests. A team without a row has the defaults.
CREATE TABLE threat_values (
    team TEXT NOT NULL PRIMARY KEY REFERENCES teams (name),
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;
