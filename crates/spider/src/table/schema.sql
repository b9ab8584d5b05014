-- The table of everything that was ever tested. Times are milliseconds since 1970; codes are those of `Outcome::to_code`.

-- Every run, the last of them perhaps not ended.
CREATE TABLE run (
    number   INTEGER PRIMARY KEY,
    plan     INTEGER NOT NULL,          -- fingerprint of what it was to do: only the same can be resumed
    began    INTEGER NOT NULL,
    ended    INTEGER,                   -- null while it runs, and after it was cut short
    summary  TEXT
);

-- Every URL, without its fragment. The number is what pages and indexes refer to, and stays the same.
CREATE TABLE node (
    id         INTEGER PRIMARY KEY,
    url        TEXT NOT NULL,
    first_seen INTEGER NOT NULL
);

-- The last test of a URL.
CREATE TABLE test (
    node     INTEGER PRIMARY KEY REFERENCES node(id),
    run      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    code     INTEGER NOT NULL,
    detail   TEXT,
    status   INTEGER,
    etag     TEXT,
    modified TEXT,                      -- Last-Modified as sent, so that it is sent back as it came
    expires  INTEGER,
    media    TEXT,
    bytes    INTEGER,
    owner    TEXT,
    title    TEXT,
    form     INTEGER NOT NULL,
    digest   INTEGER,
    changed  INTEGER,                   -- when the content was last seen to differ
    since    INTEGER NOT NULL,          -- since when the outcome has been of this class
    missed   INTEGER NOT NULL           -- in how many runs in a row nobody answered there
);

-- What was read in a document: kept as long as the document does not change.
CREATE TABLE page (
    node     INTEGER PRIMARY KEY REFERENCES node(id),
    reader   INTEGER NOT NULL,          -- version of the extraction; another one reads again
    partial  INTEGER NOT NULL,          -- whether the document was too long to be read to its end
    refs     BLOB NOT NULL,             -- see codec.rs
    anchors  BLOB NOT NULL
);

-- What was wrong at the last run, to tell new from old and to see what was mended.
CREATE TABLE finding (
    page     INTEGER NOT NULL,
    target   TEXT NOT NULL,
    fragment TEXT NOT NULL,             -- empty for none
    verdict  INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    run      INTEGER NOT NULL,          -- the last run that had it
    PRIMARY KEY (page, target, fragment, verdict)
) WITHOUT ROWID;

-- robots.txt of origins, for a day.
CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    status INTEGER NOT NULL,
    body   BLOB NOT NULL,
    at     INTEGER NOT NULL
) WITHOUT ROWID;

-- Hosts that asked to be left alone.
CREATE TABLE hold (
    host  TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;
