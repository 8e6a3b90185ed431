-- The sharing of the pages of a team, and the owner number of its private pages. A number is never reused, so that a new
-- team with an old name does not see the pages of the old team.
ALTER TABLE teams ADD COLUMN index_policy TEXT NOT NULL DEFAULT 'shared'
    CHECK (index_policy IN ('shared', 'team', 'off'));
ALTER TABLE teams ADD COLUMN page_owner INTEGER CHECK (page_owner > 0); -- NULL: it never had private pages

CREATE UNIQUE INDEX teams_by_page_owner ON teams (page_owner) WHERE page_owner IS NOT NULL;

CREATE TABLE page_owners (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last INTEGER NOT NULL CHECK (last >= 0) -- the last number that was assigned
) STRICT;

INSERT INTO page_owners (id, last) VALUES (1, 0);

-- The owner of a private copy; 0 is a shared one. The variant of a private copy begins with the owner, so (url, variant)
-- stays unique and no row has to be rewritten.
ALTER TABLE pages ADD COLUMN owner INTEGER NOT NULL DEFAULT 0 CHECK (owner >= 0);

CREATE INDEX pages_by_owner ON pages (owner) WHERE owner <> 0;
