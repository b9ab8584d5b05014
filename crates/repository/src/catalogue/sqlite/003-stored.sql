-- Records that came as XML, from other repositories: their formats, their bytes, and what their sets are called.

-- The formats there are records in. A list of the records in one of them is a list of a set whose spec begins with the
-- format's number and a slash, which no spec of a repository can: '2/' is everything in format 2, '2/a:b' its share of a:b.
-- Which formats an item has, or once had, stands in record.sets behind the sets: 'f2' has it, 'g2' had it.
CREATE TABLE format (
    format_id INTEGER PRIMARY KEY CHECK (format_id < 4096),
    prefix    TEXT    NOT NULL UNIQUE,
    schema    TEXT    NOT NULL,
    namespace TEXT    NOT NULL
) STRICT;

-- What follows the header of a record: its metadata and about containers. One row for each item and format; none for what
-- is gone. Not WITHOUT ROWID: its rows are long.
CREATE TABLE stored (
    key    INTEGER PRIMARY KEY,         -- record.number * 4096 + format.format_id
    size   INTEGER NOT NULL,            -- bytes when unpacked
    digest BLOB    NOT NULL,            -- equal for equal records
    body   BLOB,                        -- packed; null if it is in pieces
    pieces INTEGER                      -- piece.body, if it is in pieces
) STRICT;

-- The bytes of large records, in pieces of bounded size. A body never changes: a changed record gets another.
CREATE TABLE piece (
    body  INTEGER NOT NULL,             -- a random number
    place INTEGER NOT NULL,             -- 0, 1, …
    bytes BLOB    NOT NULL,             -- packed on its own
    PRIMARY KEY (body, place)
) STRICT;

-- What people call a set, where that does not follow from its spec.
ALTER TABLE setname ADD COLUMN title TEXT;
