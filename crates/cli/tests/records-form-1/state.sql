PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
, slug TEXT, catalogue BLOB) STRICT;
INSERT INTO source VALUES(1,'http://127.0.0.1:18099/modoai','records','oai_dc','1:937:5','{"name":"A modoai repository","base_url":"http://127.0.0.1:18099/modoai","earliest":"2020-01-01T00:00:00Z","deleted_record":"persistent","granularity":"YYYY-MM-DDThh:mm:ssZ","prompt":true,"schema":"http://www.openarchives.org/OAI/2.0/oai_dc.xsd","namespace":"http://www.openarchives.org/OAI/2.0/oai_dc/"}','{"token":"Encoded","prefix_with_token":false,"dates":"AsPromised","dates_proven":true,"remedies":"","public_host":null}',NULL,'127.0.0.1-18099-modoai',NULL);
CREATE TABLE item (
    identifier  TEXT PRIMARY KEY,
    -- Of everything in the record: tells changed from unchanged.
    hash        INTEGER NOT NULL,
    -- The window or identifier pass it was last seen in.
    seen        INTEGER NOT NULL,
    -- Its datestamp, if that could be read.
    stamp       INTEGER,
    gone        INTEGER NOT NULL
, elsewhere INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO item VALUES('http://127.0.0.1:18099/a.txt',3031622017195551872,2,1732000796,0,0);
INSERT INTO item VALUES('http://127.0.0.1:18099/b.txt',-7176581209755092955,2,1732000796,1,0);
INSERT INTO item VALUES('http://127.0.0.1:18099/index.html',5253033105986592559,1,1577836800,0,0);
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
INSERT INTO list VALUES(1,'',NULL,NULL,1732000802,NULL,3,NULL,1732000802);
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
CREATE TABLE missing (
    identifier  TEXT PRIMARY KEY,
    reason      TEXT NOT NULL,
    -- It came without an identifier: what stands in its place only says where it was, and cannot be asked for.
    nameless    INTEGER NOT NULL,
    -- How often it was asked for in vain.
    tries       INTEGER NOT NULL DEFAULT 0,
    since       INTEGER NOT NULL
, seen INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE repair (
    quirk       TEXT PRIMARY KEY,
    count       INTEGER NOT NULL,
    example     TEXT NOT NULL
) STRICT;
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
INSERT INTO run VALUES(1,1732000796,1732000796,'{"source":"http://127.0.0.1:18099/modoai","sink":"records","format":"oai_dc","records":3,"deleted":0,"unchanged":0,"elsewhere":0,"refused":0,"bytes":2516,"requests":3,"complete":true,"repaired":[],"missing":[],"next":{"from":"2026-11-19T19:16:36Z"}}');
INSERT INTO run VALUES(2,1732000799,1732000800,'{"source":"http://127.0.0.1:18099/modoai","sink":"records","format":"oai_dc","records":1,"deleted":1,"unchanged":0,"elsewhere":0,"refused":0,"bytes":1335,"requests":2,"complete":true,"repaired":[],"missing":[],"next":{"from":"2026-11-19T19:16:39Z"}}');
INSERT INTO run VALUES(3,1732000802,1732000802,'{"source":"http://127.0.0.1:18099/modoai","sink":"records","format":"oai_dc","records":0,"deleted":0,"unchanged":0,"elsewhere":0,"refused":0,"bytes":504,"requests":2,"complete":true,"repaired":[],"missing":[],"next":{"from":"2026-11-19T19:16:42Z"}}');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('run',3);
INSERT INTO sqlite_sequence VALUES('window',3);
COMMIT;
PRAGMA user_version = 3;
