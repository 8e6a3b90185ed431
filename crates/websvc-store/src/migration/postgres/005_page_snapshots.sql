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
