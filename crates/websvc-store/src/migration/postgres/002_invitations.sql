-- The time until which a key can be redeemed by the holder of its invitation, in milliseconds since the Unix epoch. While it
-- is set, the hash is that of the invitation, which is no key. NULL: a key.
ALTER TABLE keys ADD COLUMN redeem_until BIGINT;
