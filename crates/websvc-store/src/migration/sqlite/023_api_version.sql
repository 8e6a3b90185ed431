-- The version of the API that the client called.
ALTER TABLE usage_log ADD COLUMN api_version TEXT NOT NULL DEFAULT 'v2' CHECK (api_version IN ('v1', 'v2'));
ALTER TABLE jobs ADD COLUMN api_version TEXT NOT NULL DEFAULT 'v2' CHECK (api_version IN ('v1', 'v2'));
