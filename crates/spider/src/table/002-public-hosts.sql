-- Hosts that have had a public address. Tables of version 1 may have it already.
CREATE TABLE IF NOT EXISTS public_host (host TEXT PRIMARY KEY) WITHOUT ROWID;
