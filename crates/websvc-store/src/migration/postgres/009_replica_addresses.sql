-- See the comments in step 21 for SQLite.
ALTER TABLE replicas ADD COLUMN url TEXT;
ALTER TABLE replicas ADD COLUMN secret TEXT;
