-- Threat protection values of teams: lists, threshold and behavior on scanner failures, as JSON with the field names of
-- `threatProtection` in requests. A team without a row has the defaults.
CREATE TABLE threat_values (
    team TEXT NOT NULL PRIMARY KEY REFERENCES teams (name),
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;
