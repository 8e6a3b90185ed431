-- The keys of users whom an identity provider has authenticated: each is that of one session, and is deleted with it.
CREATE TABLE sign_in_keys (
    key TEXT NOT NULL PRIMARY KEY REFERENCES keys (id) ON UPDATE CASCADE ON DELETE CASCADE,
    valid_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_in_keys_by_expiry ON sign_in_keys (valid_until);
