-- The catalogue of one repository. Readable with any SQLite tool; written only by modoai.

-- One row: where the catalogue stands.
CREATE TABLE standing (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    epoch   INTEGER NOT NULL,           -- given at birth: item numbers mean nothing in another catalogue
    secret  BLOB    NOT NULL,           -- given at birth: tokens are sealed with it
    ready   INTEGER NOT NULL,           -- 1 once the first filling is complete
    pending INTEGER,                    -- a change stamped at or after this moment is about to become visible
    floor   INTEGER NOT NULL            -- no later change may be stamped earlier than this
) STRICT;
INSERT INTO standing VALUES (1, random(), randomblob(32), 0, NULL, -62135596800);

-- One row for each resource that is or was there; never deleted, so numbers are never reused.
CREATE TABLE record (
    number    INTEGER PRIMARY KEY,
    datestamp INTEGER NOT NULL,         -- seconds since 1970
    deleted   INTEGER NOT NULL,         -- 1 = gone, a tombstone
    media     INTEGER NOT NULL,         -- media.media_id
    size      INTEGER NOT NULL,         -- size to inode: which state of the file this describes
    modified  INTEGER NOT NULL,         -- nanoseconds since 1970
    changed   INTEGER NOT NULL,         -- nanoseconds since 1970
    inode     INTEGER NOT NULL,
    sets      TEXT    NOT NULL,         -- setname.set_id of the narrowest sets, separated by spaces
    name      TEXT    NOT NULL,         -- the identifier without the part all identifiers share
    title     TEXT,                     -- title to md5: found out when first needed
    sha256    BLOB,
    md5       BLOB
) STRICT;

-- The number of each name. Not an index of `record`, so that the first filling can append to both: here in the order of
-- names, there in the order of datestamps, which keeps together what is listed together.
CREATE TABLE name (
    name   TEXT    NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who is in which set, wider sets included; set 0 holds everything, so that lists with and without a set are one query.
-- Without a rowid, because a seek to (datestamp, number) in an ordinary index stops at the datestamp and then walks
-- through all ties, and after an import there are hundreds of thousands. Empty until the first filling is complete.
CREATE TABLE member (
    set_id    INTEGER NOT NULL,
    datestamp INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (set_id, datestamp, number)
) STRICT, WITHOUT ROWID;

-- How many members a set has on each day (days since 1970), so that counting does not scan.
CREATE TABLE counter (
    set_id  INTEGER NOT NULL,
    day     INTEGER NOT NULL,
    members INTEGER NOT NULL,
    PRIMARY KEY (set_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE setname (
    set_id INTEGER PRIMARY KEY,
    spec   TEXT    NOT NULL UNIQUE,
    live   INTEGER NOT NULL             -- how many members are not gone
) STRICT;
INSERT INTO setname VALUES (0, '', 0);

CREATE TABLE media (
    media_id INTEGER PRIMARY KEY,
    type     TEXT    NOT NULL UNIQUE
) STRICT;

-- Folders on which something was mounted when they were last looked at: nothing in them is gone only because the disk is.
CREATE TABLE mount (
    folder TEXT NOT NULL PRIMARY KEY    -- with a slash at the end
) STRICT, WITHOUT ROWID;
