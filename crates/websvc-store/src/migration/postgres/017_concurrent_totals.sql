-- Totals are divided into rows, so that transactions that change them at the same time rarely wait for each other. A
-- total is the sum of its rows, each of which may be negative.
ALTER TABLE job_storage DROP CONSTRAINT job_storage_number_check;
ALTER TABLE monitor_storage DROP CONSTRAINT monitor_storage_number_check;
ALTER TABLE page_totals DROP CONSTRAINT page_totals_id_check;
ALTER TABLE page_totals DROP CONSTRAINT page_totals_pages_check;
ALTER TABLE page_totals DROP CONSTRAINT page_totals_bytes_check;

-- The row of the total that this session changes.
CREATE FUNCTION total_row() RETURNS BIGINT LANGUAGE sql STABLE AS 'SELECT (1 + pg_backend_pid() % 16)::BIGINT';

CREATE FUNCTION add_to_job_storage(added BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO job_storage (number, bytes) SELECT total_row(), added WHERE added <> 0
    ON CONFLICT (number) DO UPDATE SET bytes = job_storage.bytes + excluded.bytes
$$;

CREATE OR REPLACE FUNCTION add_job_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_job_storage(length(NEW.document));
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION subtract_job_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_job_storage((SELECT -coalesce(sum(length(document)), 0)::BIGINT FROM deleted));
    RETURN NULL;
END $$;

CREATE FUNCTION add_to_monitor_storage(baselines BIGINT, checks BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO monitor_storage (number, baseline_bytes, check_bytes) SELECT total_row(), baselines, checks
    WHERE baselines <> 0 OR checks <> 0
    ON CONFLICT (number) DO UPDATE SET baseline_bytes = monitor_storage.baseline_bytes + excluded.baseline_bytes,
        check_bytes = monitor_storage.check_bytes + excluded.check_bytes
$$;

CREATE OR REPLACE FUNCTION count_baseline_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_monitor_storage(
        CASE TG_OP WHEN 'DELETE' THEN 0 ELSE length(NEW.document) END
            - CASE TG_OP WHEN 'INSERT' THEN 0 ELSE length(OLD.document) END, 0);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION count_check_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_monitor_storage(
        0, CASE TG_OP WHEN 'DELETE' THEN 0 ELSE NEW.bytes END - CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.bytes END);
    RETURN NULL;
END $$;

CREATE FUNCTION add_to_page_totals(added_pages BIGINT, added_bytes BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO page_totals (id, pages, bytes) SELECT total_row(), added_pages, added_bytes
    WHERE added_pages <> 0 OR added_bytes <> 0
    ON CONFLICT (id) DO UPDATE SET pages = page_totals.pages + excluded.pages,
        bytes = page_totals.bytes + excluded.bytes
$$;

CREATE OR REPLACE FUNCTION add_inserted_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_page_totals(count(*), coalesce(sum(size), 0)::BIGINT) FROM inserted;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION subtract_deleted_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_page_totals(-count(*), -coalesce(sum(size), 0)::BIGINT) FROM deleted;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION add_changed_page_size() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_page_totals(0, NEW.size - OLD.size);
    RETURN NULL;
END $$;

-- A page has one row for each variant. Both texts may be too long for an index.
CREATE UNIQUE INDEX pages_by_key ON pages (md5(url), md5(variant));
