CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    -- Of a private copy; 0 is a shared one. The variant of a private copy begins with the owner, so (url, variant) is
    -- unique.
    owner INTEGER NOT NULL DEFAULT 0 CHECK (owner >= 0),
    url TEXT NOT NULL,
    variant TEXT NOT NULL,
    host TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL, -- JSON: [[name, value], ...]
    fetched_at INTEGER NOT NULL,
    truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)),
    size INTEGER NOT NULL CHECK (size >= 0), -- bytes that count against the limit of the cache
    body_length INTEGER NOT NULL CHECK (body_length >= 0),
    body_encoding TEXT NOT NULL CHECK (body_encoding IN ('plain', 'zstd')),
    body BLOB NOT NULL,
    UNIQUE (url, variant)
) STRICT;

CREATE INDEX pages_by_age ON pages (fetched_at, size);
CREATE INDEX pages_by_host ON pages (host);
CREATE INDEX pages_by_owner ON pages (owner) WHERE owner <> 0;

-- Maintained by triggers in the transaction of each change, so it is exact for every writer and after any crash.
CREATE TABLE page_totals (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    pages INTEGER NOT NULL CHECK (pages >= 0),
    bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;

INSERT INTO page_totals (id, pages, bytes) VALUES (1, 0, 0);

CREATE TRIGGER pages_inserted AFTER INSERT ON pages
BEGIN UPDATE page_totals SET pages = pages + 1, bytes = bytes + NEW.size; END;

CREATE TRIGGER pages_updated AFTER UPDATE OF size ON pages
BEGIN UPDATE page_totals SET bytes = bytes + NEW.size - OLD.size; END;

CREATE TRIGGER pages_deleted AFTER DELETE ON pages
BEGIN UPDATE page_totals SET pages = pages - 1, bytes = bytes - OLD.size; END;

-- The version of each page that the next scrape of a team compares with, by the URL as requested and a tag.
CREATE TABLE page_snapshots (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 32), -- SHA-256 of team, URL and tag
    team TEXT NOT NULL,                               -- empty: of a deleted team, to be deleted
    url TEXT NOT NULL,
    tag TEXT,
    options BLOB NOT NULL CHECK (length(options) = 32), -- SHA-256 of the options that shaped the markdown
    taken_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    length INTEGER NOT NULL CHECK (length >= 0),      -- of the markdown before compression
    bytes INTEGER NOT NULL CHECK (bytes >= 0),        -- that count against the quota
    markdown BLOB NOT NULL                            -- compressed by zstd
) STRICT;

-- For the quota of a team, which sums up the sizes in this order.
CREATE INDEX page_snapshots_by_use ON page_snapshots (team, used_at, id, bytes);
CREATE INDEX page_snapshots_by_age ON page_snapshots (used_at);

-- Pages that wait to be written to an index on a server. A row is deleted when the server has the page.
CREATE TABLE index_outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which the server gets the pages
    source TEXT NOT NULL,                     -- name of the server in the configuration
    document TEXT NOT NULL,                   -- ID of the page on the server, the same for all spellings of its URL
    url TEXT NOT NULL,
    version INTEGER NOT NULL,                 -- time of the fetch; a page of an older version is not written
    bytes INTEGER NOT NULL,                   -- size of the record before compression
    created_at INTEGER NOT NULL,              -- the time since which the page waits
    due_at INTEGER NOT NULL DEFAULT 0,        -- not taken before this time
    claim INTEGER,                            -- the write that has taken it last
    record BLOB NOT NULL,                     -- the page as the server stores it, compressed by zstd
    UNIQUE (source, document)
) STRICT;

-- Has the columns of the totals, so that these are computed without the rows.
CREATE INDEX index_outbox_waiting ON index_outbox (source, number, created_at, bytes);
CREATE INDEX index_outbox_claimed ON index_outbox (claim) WHERE claim IS NOT NULL;
