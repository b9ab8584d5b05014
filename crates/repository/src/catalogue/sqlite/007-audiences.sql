-- Audiences: what a requester needs to GET an item that is not public (decision 016).
CREATE TABLE audience (
    number INTEGER PRIMARY KEY,
    needs  TEXT    NOT NULL,            -- names of attributes, sorted, separated by spaces: 'authorization', '@address', …
    digest INTEGER NOT NULL,            -- of their values
    UNIQUE (needs, digest)
) STRICT;

-- The audiences that an item was listed for: audience.number, separated by spaces, and '*' if there may be others, as for
-- all items that were listed before this table existed.
ALTER TABLE record ADD COLUMN audience TEXT NOT NULL DEFAULT '*';
