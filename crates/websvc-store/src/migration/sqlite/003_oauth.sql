-- Programs that have registered for OAuth (RFC 7591).
CREATE TABLE oauth_clients (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    redirect_uris TEXT NOT NULL CHECK (json_valid(redirect_uris)), -- an array
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_clients_by_age ON oauth_clients (created_at, id);

-- What a user has authorized a client to do. The access token of a grant is a key, whose row has the rights.
CREATE TABLE oauth_grants (
    family TEXT NOT NULL PRIMARY KEY, -- SHA-256 of the half that all its tokens have in common, in hex
    client TEXT NOT NULL REFERENCES oauth_clients (id),
    key TEXT NOT NULL UNIQUE REFERENCES keys (id) ON UPDATE CASCADE ON DELETE CASCADE,
    secret BLOB NOT NULL CHECK (length(secret) = 32),             -- SHA-256 of the other half of the valid one
    -- The proof and the address that belong to a code; NULL once it was exchanged for tokens.
    challenge TEXT,
    redirect_uri TEXT,
    valid_until INTEGER NOT NULL,                                 -- of the valid code or refresh token
    CHECK ((challenge IS NULL) = (redirect_uri IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_grants_by_client ON oauth_grants (client);
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (valid_until);
