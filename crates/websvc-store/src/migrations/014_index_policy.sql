-- Who sees the pages of a team, and under which number they are kept apart. A number is never given twice, so that a
-- team that is made anew under an old name does not see the pages of the old one.
ALTER TABLE teams ADD COLUMN index_policy TEXT NOT NULL DEFAULT 'shared'
    CHECK (index_policy IN ('shared', 'team', 'off'));
ALTER TABLE teams ADD COLUMN page_owner INTEGER CHECK (page_owner > 0); -- NULL: its pages were never kept apart

CREATE UNIQUE INDEX teams_by_page_owner ON teams (page_owner) WHERE page_owner IS NOT NULL;

CREATE TABLE page_owners (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last INTEGER NOT NULL CHECK (last >= 0) -- the number that was given last
) STRICT;

INSERT INTO page_owners (id, last) VALUES (1, 0);

-- Whose copy it is: 0 is everybody's. The variant of an entry with an owner begins with the owner, so (url, variant)
-- stays unique and no row is written anew.
ALTER TABLE pages ADD COLUMN owner INTEGER NOT NULL DEFAULT 0 CHECK (owner >= 0);

CREATE INDEX pages_by_owner ON pages (owner) WHERE owner <> 0;
