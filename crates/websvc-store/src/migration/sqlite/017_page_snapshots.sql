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
