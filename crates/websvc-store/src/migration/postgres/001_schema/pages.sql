CREATE TABLE pages (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner BIGINT NOT NULL DEFAULT 0 CHECK (owner >= 0), -- of a private copy; 0 is a shared one
    url TEXT NOT NULL,
    variant TEXT NOT NULL,
    host TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status BIGINT NOT NULL,
    headers TEXT NOT NULL, -- JSON: [[name, value], ...]
    fetched_at BIGINT NOT NULL,
    truncated BIGINT NOT NULL CHECK (truncated IN (0, 1)),
    size BIGINT NOT NULL CHECK (size >= 0), -- bytes that count against the limit of the cache
    body_length BIGINT NOT NULL CHECK (body_length >= 0),
    body_encoding TEXT NOT NULL CHECK (body_encoding IN ('plain', 'zstd')),
    body BYTEA NOT NULL
);

-- Bodies are compressed already.
ALTER TABLE pages ALTER COLUMN body SET STORAGE EXTERNAL;
-- URLs can be longer than the entries of a B-tree.
CREATE INDEX pages_by_url ON pages USING hash (url);
CREATE INDEX pages_by_age ON pages (fetched_at, size);
CREATE INDEX pages_by_host ON pages USING hash (host);
CREATE INDEX pages_by_owner ON pages (owner) WHERE owner <> 0;
-- A page has one row for each variant, which begins with the owner of a private copy. Both texts may be too long for an
-- index.
CREATE UNIQUE INDEX pages_by_key ON pages (md5(url), md5(variant));

-- Maintained by triggers in the transaction of each change, so it is exact for every writer and after any crash.
CREATE TABLE page_totals (
    id BIGINT PRIMARY KEY,
    pages BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);

INSERT INTO page_totals (id, pages, bytes) VALUES (1, 0, 0);

CREATE FUNCTION add_to_page_totals(added_pages BIGINT, added_bytes BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO page_totals (id, pages, bytes) SELECT total_row(), added_pages, added_bytes
    WHERE added_pages <> 0 OR added_bytes <> 0
    ON CONFLICT (id) DO UPDATE SET pages = page_totals.pages + excluded.pages,
        bytes = page_totals.bytes + excluded.bytes
$$;

CREATE FUNCTION add_inserted_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_page_totals(count(*), coalesce(sum(size), 0)::BIGINT) FROM inserted;
    RETURN NULL;
END $$;

CREATE FUNCTION subtract_deleted_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_page_totals(-count(*), -coalesce(sum(size), 0)::BIGINT) FROM deleted;
    RETURN NULL;
END $$;

CREATE FUNCTION add_changed_page_size() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_page_totals(0, NEW.size - OLD.size);
    RETURN NULL;
END $$;

CREATE TRIGGER pages_inserted AFTER INSERT ON pages
REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION add_inserted_pages();
CREATE TRIGGER pages_deleted AFTER DELETE ON pages
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION subtract_deleted_pages();
CREATE TRIGGER pages_updated AFTER UPDATE OF size ON pages
FOR EACH ROW EXECUTE FUNCTION add_changed_page_size();

-- The version of each page that the next scrape of a team compares with, by the URL as requested and a tag.
CREATE TABLE page_snapshots (
    id BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 32), -- SHA-256 of team, URL and tag
    team TEXT COLLATE "C" NOT NULL,                   -- empty: of a deleted team, to be deleted
    url TEXT NOT NULL,
    tag TEXT,
    options BYTEA NOT NULL CHECK (length(options) = 32), -- SHA-256 of the options that shaped the markdown
    taken_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    length BIGINT NOT NULL CHECK (length >= 0),       -- of the markdown before compression
    bytes BIGINT NOT NULL CHECK (bytes >= 0),         -- that count against the quota
    markdown BYTEA NOT NULL                           -- compressed by zstd
);

ALTER TABLE page_snapshots ALTER COLUMN markdown SET STORAGE EXTERNAL;
-- For the quota of a team, which sums up the sizes in this order.
CREATE INDEX page_snapshots_by_use ON page_snapshots (team, used_at, id, bytes);
CREATE INDEX page_snapshots_by_age ON page_snapshots (used_at);

-- Pages that wait to be written to an index on a server. A row is deleted when the server has the page.
CREATE TABLE index_outbox (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which the server gets the pages
    source TEXT COLLATE "C" NOT NULL,         -- name of the server in the configuration
    document TEXT COLLATE "C" NOT NULL,       -- ID of the page on the server, the same for all spellings of its URL
    url TEXT NOT NULL,
    version BIGINT NOT NULL,                  -- time of the fetch; a page of an older version is not written
    bytes BIGINT NOT NULL,                    -- size of the record before compression
    created_at BIGINT NOT NULL,               -- the time since which the page waits
    due_at BIGINT NOT NULL DEFAULT 0,         -- not taken before this time
    claim BIGINT,                             -- the write that has taken it last
    record BYTEA NOT NULL,                    -- the page as the server stores it, compressed by zstd
    UNIQUE (source, document)
);

ALTER TABLE index_outbox ALTER COLUMN record SET STORAGE EXTERNAL;
-- Has the columns of the totals, so that these are computed without the rows.
CREATE INDEX index_outbox_waiting ON index_outbox (source, number, created_at, bytes);
CREATE INDEX index_outbox_claimed ON index_outbox (claim) WHERE claim IS NOT NULL;
