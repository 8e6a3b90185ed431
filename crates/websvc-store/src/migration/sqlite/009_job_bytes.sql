-- Size of the documents of all jobs, maintained by triggers, so that readers need not sum the rows.
CREATE TABLE job_storage (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    bytes INTEGER NOT NULL                    -- of the documents, compressed
) STRICT;

INSERT INTO job_storage (number, bytes) SELECT 1, ifnull(sum(length(document)), 0) FROM job_documents;

CREATE TRIGGER job_documents_added AFTER INSERT ON job_documents
BEGIN
    UPDATE job_storage SET bytes = bytes + length(NEW.document);
END;

CREATE TRIGGER job_documents_removed AFTER DELETE ON job_documents
BEGIN
    UPDATE job_storage SET bytes = bytes - length(OLD.document);
END;
