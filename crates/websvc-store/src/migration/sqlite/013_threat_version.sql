-- Processes cache the values of teams, so their changes count like those of keys and teams.
CREATE TRIGGER threat_values_inserted AFTER INSERT ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER threat_values_updated AFTER UPDATE ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER threat_values_deleted AFTER DELETE ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;
