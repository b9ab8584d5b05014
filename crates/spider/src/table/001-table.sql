-- The table of all URLs that were ever tested. Times are milliseconds since 1970; codes are those of `Outcome::to_code`.

-- Every run; the last one may not have ended.
CREATE TABLE run (
    number   INTEGER PRIMARY KEY,
    plan     INTEGER NOT NULL,          -- hash of the plan: only a run with the same plan is resumed
    began    INTEGER NOT NULL,
    ended    INTEGER,                   -- null during the run, and after an interruption
    summary  TEXT
);

-- Every URL, without its fragment. Pages and indexes refer to its number, which never changes.
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
    modified TEXT,                      -- Last-Modified as received, for If-Modified-Since
    expires  INTEGER,
    media    TEXT,
    bytes    INTEGER,
    owner    TEXT,
    title    TEXT,
    form     INTEGER NOT NULL,
    digest   INTEGER,
    changed  INTEGER,                   -- when a change of the content was last observed
    since    INTEGER NOT NULL,          -- when the class of the outcome last changed
    missed   INTEGER NOT NULL           -- number of consecutive runs without a response
);

-- The contents of a document, kept until the document changes.
CREATE TABLE page (
    node     INTEGER PRIMARY KEY REFERENCES node(id),
    reader   INTEGER NOT NULL,          -- version of the extraction; another version reads the document again
    partial  INTEGER NOT NULL,          -- 1 if the document was too long to be read completely
    refs     BLOB NOT NULL,             -- see codec.rs
    anchors  BLOB NOT NULL
);

-- The findings of the last run, to detect new and fixed ones.
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

-- Hosts that refuse requests until a later time.
CREATE TABLE hold (
    host  TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;
