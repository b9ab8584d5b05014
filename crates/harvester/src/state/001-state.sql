-- The state of one harvest: one source, one format, one sink. Dates are seconds since 1970.
CREATE TABLE source (
    only        INTEGER PRIMARY KEY CHECK (only = 1),
    base_url    TEXT NOT NULL,
    sink        TEXT NOT NULL,
    prefix      TEXT NOT NULL,
    -- What the sink returned when the last page was committed.
    mark        TEXT,
    -- What Identify and ListMetadataFormats said, and what was learnt on the way, as JSON.
    identity    TEXT,
    habits      TEXT NOT NULL DEFAULT '{}',
    -- Which life of the machine commits were made in that it alone remembers.
    unsynced    TEXT
) STRICT;

-- Every item that was ever received. Identifiers that come together are often alike, so rows that are written together lie
-- together; a hash as the key would scatter a page's rows over the whole table, and each commit would write all of it.
CREATE TABLE item (
    identifier  TEXT PRIMARY KEY,
    -- Of everything in the record: tells changed from unchanged.
    hash        INTEGER NOT NULL,
    -- The window or identifier pass it was last seen in.
    seen        INTEGER NOT NULL,
    -- Its datestamp, if that could be read.
    stamp       INTEGER,
    gone        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A selection that is kept up to date.
CREATE TABLE list (
    number      INTEGER PRIMARY KEY,
    set_spec    TEXT NOT NULL,
    from_date   INTEGER,
    until_date  INTEGER,
    -- responseDate of the first page of the last complete pass: what changed before it is here.
    watermark   INTEGER,
    -- responseDate of the first page of the pass that is under way, the number of its first window, and the size that was
    -- announced for what had to be divided.
    first_date  INTEGER,
    first_window INTEGER NOT NULL DEFAULT 0,
    announced   INTEGER,
    completed   INTEGER
) STRICT;

-- What of a pass is not yet proven complete. A pass without windows is over.
CREATE TABLE window (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    list        INTEGER NOT NULL REFERENCES list,
    from_date   INTEGER,
    until_date  INTEGER,
    set_spec    TEXT NOT NULL,
    -- Where to go on, and what was counted up to there.
    token       TEXT,
    progress    TEXT NOT NULL DEFAULT '{}',
    -- Why it was given up in the last run.
    trouble     TEXT
) STRICT;

-- Records that are known to exist and are not here.
CREATE TABLE missing (
    identifier  TEXT PRIMARY KEY,
    reason      TEXT NOT NULL,
    -- It came without an identifier: what stands in its place only says where it was, and cannot be asked for.
    nameless    INTEGER NOT NULL,
    -- How often it was asked for in vain.
    tries       INTEGER NOT NULL DEFAULT 0,
    since       INTEGER NOT NULL
) STRICT;

CREATE TABLE repair (
    quirk       TEXT PRIMARY KEY,
    count       INTEGER NOT NULL,
    example     TEXT NOT NULL
) STRICT;

-- Hosts that asked to be left alone for longer than a run.
CREATE TABLE wait (
    host        TEXT PRIMARY KEY,
    until       INTEGER NOT NULL,
    reason      TEXT NOT NULL
) STRICT;

CREATE TABLE run (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    started     INTEGER NOT NULL,
    ended       INTEGER,
    summary     TEXT
) STRICT;
