-- The keys of users whom an identity provider has authenticated: each is that of one session, and is deleted with it.
CREATE TABLE sign_in_keys (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES keys (id) ON UPDATE CASCADE ON DELETE CASCADE,
    valid_until BIGINT NOT NULL
);

CREATE INDEX sign_in_keys_by_expiry ON sign_in_keys (valid_until);
