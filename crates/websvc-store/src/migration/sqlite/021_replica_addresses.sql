-- How the other replicas reach a replica, for requests that only it can answer. The secret is new at every start: a request
-- with it comes from a process that can read this table. NULL: it announces no address.
ALTER TABLE replicas ADD COLUMN url TEXT;
ALTER TABLE replicas ADD COLUMN secret TEXT;
