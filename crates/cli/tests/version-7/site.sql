PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE standing (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    epoch   INTEGER NOT NULL,           -- given at birth: item numbers mean nothing in another catalogue
    secret  BLOB    NOT NULL,           -- given at birth: tokens are sealed with it
    ready   INTEGER NOT NULL,           -- 1 once the first filling is complete
    pending INTEGER,                    -- a change stamped at or after this moment is about to become visible
    floor   INTEGER NOT NULL            -- no later change may be stamped earlier than this
, revision INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO standing VALUES(1,7446348491373766641,X'71b2e8833a1fbc5695b4ca692485a9d161e724f83a03e375c21dd53e325b9172',1,NULL,1731961095,0);
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
, publicity INTEGER NOT NULL DEFAULT 0, audience TEXT NOT NULL DEFAULT '*') STRICT;
INSERT INTO record VALUES(1,1577836800,0,1,1,1577836800000000000,1795033092765893827,6316846,'1','a.txt',NULL,X'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',X'0cc175b9c0f1b6a831c399e269772661',0,'');
INSERT INTO record VALUES(2,1577836800,0,1,1,1577836800000000000,1795033092765893827,6316847,'1','docs/b.txt',NULL,X'3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d',X'92eb5ffee6ae2fec3ad71c777531578f',0,'');
INSERT INTO record VALUES(3,1731961095,1,1,1,1577836800000000000,1795033092765893827,6316848,'1','docs/c.txt',NULL,NULL,NULL,0,'');
INSERT INTO record VALUES(4,1577836800,0,2,36,1577836800000000000,1795033092765893827,6316845,'4','index.html',NULL,X'9d7a92b75266b19d957adadf024b4263255c0398f19c4bd421cec5a323415255',X'872daed3eab2317888f42255859ae7a2',0,'');
CREATE TABLE name (
    name   TEXT    NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO name VALUES('a.txt',1);
INSERT INTO name VALUES('docs/b.txt',2);
INSERT INTO name VALUES('docs/c.txt',3);
INSERT INTO name VALUES('index.html',4);
CREATE TABLE member (
    set_id    INTEGER NOT NULL,
    datestamp INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (set_id, datestamp, number)
) STRICT, WITHOUT ROWID;
INSERT INTO member VALUES(0,1577836800,1);
INSERT INTO member VALUES(0,1577836800,2);
INSERT INTO member VALUES(0,1577836800,4);
INSERT INTO member VALUES(0,1731961095,3);
INSERT INTO member VALUES(1,1577836800,1);
INSERT INTO member VALUES(1,1577836800,2);
INSERT INTO member VALUES(1,1731961095,3);
INSERT INTO member VALUES(2,1577836800,1);
INSERT INTO member VALUES(2,1577836800,2);
INSERT INTO member VALUES(2,1577836800,4);
INSERT INTO member VALUES(2,1731961095,3);
INSERT INTO member VALUES(3,1577836800,1);
INSERT INTO member VALUES(3,1577836800,2);
INSERT INTO member VALUES(3,1577836800,4);
INSERT INTO member VALUES(3,1731961095,3);
INSERT INTO member VALUES(4,1577836800,4);
CREATE TABLE counter (
    set_id  INTEGER NOT NULL,
    day     INTEGER NOT NULL,
    members INTEGER NOT NULL,
    PRIMARY KEY (set_id, day)
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES(0,18262,3);
INSERT INTO counter VALUES(0,20045,1);
INSERT INTO counter VALUES(1,18262,2);
INSERT INTO counter VALUES(1,20045,1);
INSERT INTO counter VALUES(2,18262,3);
INSERT INTO counter VALUES(2,20045,1);
INSERT INTO counter VALUES(3,18262,3);
INSERT INTO counter VALUES(3,20045,1);
INSERT INTO counter VALUES(4,18262,1);
CREATE TABLE setname (
    set_id INTEGER PRIMARY KEY,
    spec   TEXT    NOT NULL UNIQUE,
    live   INTEGER NOT NULL             -- how many members are not gone
, title TEXT, description TEXT) STRICT;
INSERT INTO setname VALUES(0,'',3,NULL,NULL);
INSERT INTO setname VALUES(1,'mime:text:plain',2,NULL,NULL);
INSERT INTO setname VALUES(2,'mime',3,NULL,NULL);
INSERT INTO setname VALUES(3,'mime:text',3,NULL,NULL);
INSERT INTO setname VALUES(4,'mime:text:html',1,NULL,NULL);
CREATE TABLE media (
    media_id INTEGER PRIMARY KEY,
    type     TEXT    NOT NULL UNIQUE
) STRICT;
INSERT INTO media VALUES(1,'text/plain');
INSERT INTO media VALUES(2,'text/html');
CREATE TABLE mount (
    folder TEXT NOT NULL PRIMARY KEY    -- with a slash at the end
) STRICT, WITHOUT ROWID;
CREATE TABLE format (
    format_id INTEGER PRIMARY KEY CHECK (format_id < 4096),
    prefix    TEXT    NOT NULL UNIQUE,
    schema    TEXT    NOT NULL,
    namespace TEXT    NOT NULL
) STRICT;
CREATE TABLE stored (
    key    INTEGER PRIMARY KEY,         -- record.number * 4096 + format.format_id
    size   INTEGER NOT NULL,            -- bytes when unpacked
    digest BLOB    NOT NULL,            -- equal for equal records
    body   BLOB,                        -- packed; null if it is in pieces
    pieces INTEGER                      -- piece.body, if it is in pieces
) STRICT;
CREATE TABLE piece (
    body  INTEGER NOT NULL,             -- a random number
    place INTEGER NOT NULL,             -- 0, 1, …
    bytes BLOB    NOT NULL,             -- packed on its own
    PRIMARY KEY (body, place)
) STRICT;
CREATE TABLE memo (
    key   TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE stamp (
    key       INTEGER PRIMARY KEY,      -- record.number * 4096 + format.format_id
    datestamp INTEGER NOT NULL
) STRICT;
CREATE TABLE audience (
    number INTEGER PRIMARY KEY,
    needs  TEXT    NOT NULL,            -- names of attributes, sorted, separated by spaces: 'authorization', '@address', …
    digest INTEGER NOT NULL,            -- of their values
    UNIQUE (needs, digest)
) STRICT;
CREATE INDEX stamp_datestamp ON stamp (datestamp);
COMMIT;
PRAGMA application_id = 1836015977;
PRAGMA user_version = 7;
