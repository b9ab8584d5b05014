PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE source (
    only        INTEGER PRIMARY KEY CHECK (only = 1),
    base_url    TEXT NOT NULL,
    sink        TEXT NOT NULL,
    prefix      TEXT NOT NULL,
    -- The short name of the source, which stays what it was when the repository moves.
    slug        TEXT,
    -- What the sink returned when the last page was committed.
    mark        TEXT,
    -- What Identify and ListMetadataFormats said, and what was learnt on the way, as JSON.
    identity    TEXT,
    habits      TEXT NOT NULL DEFAULT '{}',
    -- Which life of the machine commits were made in that it alone remembers.
    unsynced    TEXT,
    -- The catalogue that the sink writes, if one was chosen: its path from the folder on, or from the root.
    catalogue   BLOB
) STRICT;
INSERT INTO source VALUES(1,'http://127.0.0.1:9/modoai','catalogue','oai_dc','127.0.0.1-9-modoai','1961a356fb553fac 3','{"name":"A modoai repository","base_url":"https://www.example.org/modoai","earliest":"2020-01-01T00:00:00Z","deleted_record":"persistent","granularity":"YYYY-MM-DDThh:mm:ssZ","prompt":true,"schema":"http://www.openarchives.org/OAI/2.0/oai_dc.xsd","namespace":"http://www.openarchives.org/OAI/2.0/oai_dc/"}','{"token":"Encoded","prefix_with_token":false,"dates":"AsPromised","dates_proven":true,"remedies":"","public_host":null}',NULL,NULL);
CREATE TABLE item (
    identifier  TEXT PRIMARY KEY,
    -- Of everything in the record: tells changed from unchanged.
    hash        INTEGER NOT NULL,
    -- The window or identifier pass it was last seen in.
    seen        INTEGER NOT NULL,
    -- Its datestamp, if that could be read.
    stamp       INTEGER,
    gone        INTEGER NOT NULL,
    -- Whether the sink left it to somebody else, who keeps it.
    elsewhere   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO item VALUES('https://www.example.org/a.txt',-3154502141037815746,1,1577836800,0,0);
INSERT INTO item VALUES('https://www.example.org/b.txt',-3430077312145377366,1,1577836800,0,0);
INSERT INTO item VALUES('https://www.example.org/c.txt',5552504869175611260,2,1731961102,1,0);
INSERT INTO item VALUES('https://www.example.org/index.html',7900998479348025080,1,1577836800,0,0);
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
INSERT INTO list VALUES(1,'',NULL,NULL,1731961105,NULL,2,NULL,1731961105);
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
    since       INTEGER NOT NULL,
    -- The window or identifier pass it was last listed in.
    seen        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE repair (
    quirk       TEXT PRIMARY KEY,
    count       INTEGER NOT NULL,
    example     TEXT NOT NULL
) STRICT;
INSERT INTO repair VALUES('base-url-moved',2,'Identify returns https://www.example.org/modoai');
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
INSERT INTO run VALUES(1,1731961102,1731961102,'{"source":"http://127.0.0.1:9/modoai","sink":"catalogue","format":"oai_dc","records":4,"deleted":0,"unchanged":0,"elsewhere":0,"refused":0,"bytes":3214,"requests":3,"complete":true,"repaired":[{"quirk":"base-url-moved","count":1,"example":"Identify returns https://www.example.org/modoai"}],"missing":[],"next":{"from":"2024-11-18T20:18:22Z"}}');
INSERT INTO run VALUES(2,1731961105,1731961105,'{"source":"http://127.0.0.1:9/modoai","sink":"catalogue","format":"oai_dc","records":0,"deleted":1,"unchanged":0,"elsewhere":0,"refused":0,"bytes":648,"requests":2,"complete":true,"repaired":[{"quirk":"base-url-moved","count":1,"example":"Identify returns https://www.example.org/modoai"}],"missing":[],"next":{"from":"2024-11-18T20:18:25Z"}}');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('run',2);
INSERT INTO sqlite_sequence VALUES('window',2);
COMMIT;
PRAGMA user_version = 3;
