-- Processes remember the values of teams: a change of them is counted as one of keys and teams is.
CREATE TRIGGER threat_values_inserted AFTER INSERT ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER threat_values_updated AFTER UPDATE ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER threat_values_deleted AFTER DELETE ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;
