-- Pages that wait to be written to an index on a server. A row is deleted when the server has the page.
CREATE TABLE index_outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which the server gets the pages
    source TEXT NOT NULL,                     -- name of the server in the configuration
    document TEXT NOT NULL,                   -- ID of the page on the server, the same for all spellings of its URL
    url TEXT NOT NULL,
    version INTEGER NOT NULL,                 -- time of the fetch; a page of an older version is not written
    bytes INTEGER NOT NULL,                   -- size of the record before compression
    record BLOB NOT NULL,                     -- the page as the server stores it, compressed by zstd
    created_at INTEGER NOT NULL,              -- the time since which the page waits
    due_at INTEGER NOT NULL DEFAULT 0,        -- not taken before this time
    claim INTEGER,                            -- the write that has taken it last
    UNIQUE (source, document)
) STRICT;

-- Has the columns of the totals, so that these are computed without the rows.
CREATE INDEX index_outbox_waiting ON index_outbox (source, number, created_at, bytes);
CREATE INDEX index_outbox_claimed ON index_outbox (claim) WHERE claim IS NOT NULL;
