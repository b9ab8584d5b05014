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
INSERT INTO standing VALUES(1,2651816520077784494,X'4a3341bba04e757ebad95a4ab483de7568533ae75aff2bffe7ab56e9e0578d4e',1,NULL,1731961105,3);
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
INSERT INTO record VALUES(1,1731961102,0,1,1056,0,0,0,'1 2 f1','https://www.example.org/a.txt',NULL,NULL,NULL,0,'*');
INSERT INTO record VALUES(2,1731961102,0,1,1056,0,0,0,'1 2 f1','https://www.example.org/b.txt',NULL,NULL,NULL,0,'*');
INSERT INTO record VALUES(3,1731961105,1,1,0,0,0,0,'1 2 g1','https://www.example.org/c.txt',NULL,NULL,NULL,0,'*');
INSERT INTO record VALUES(4,1731961102,0,1,1070,0,0,0,'1 10 f1','https://www.example.org/index.html',NULL,NULL,NULL,0,'*');
CREATE TABLE name (
    name   TEXT    NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO name VALUES('https://www.example.org/a.txt',1);
INSERT INTO name VALUES('https://www.example.org/b.txt',2);
INSERT INTO name VALUES('https://www.example.org/c.txt',3);
INSERT INTO name VALUES('https://www.example.org/index.html',4);
CREATE TABLE member (
    set_id    INTEGER NOT NULL,
    datestamp INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (set_id, datestamp, number)
) STRICT, WITHOUT ROWID;
INSERT INTO member VALUES(0,1731961102,1);
INSERT INTO member VALUES(0,1731961102,2);
INSERT INTO member VALUES(0,1731961102,4);
INSERT INTO member VALUES(0,1731961105,3);
INSERT INTO member VALUES(1,1731961102,1);
INSERT INTO member VALUES(1,1731961102,2);
INSERT INTO member VALUES(1,1731961102,4);
INSERT INTO member VALUES(1,1731961105,3);
INSERT INTO member VALUES(2,1731961102,1);
INSERT INTO member VALUES(2,1731961102,2);
INSERT INTO member VALUES(2,1731961105,3);
INSERT INTO member VALUES(3,1731961102,1);
INSERT INTO member VALUES(3,1731961102,2);
INSERT INTO member VALUES(3,1731961102,4);
INSERT INTO member VALUES(3,1731961105,3);
INSERT INTO member VALUES(4,1731961102,1);
INSERT INTO member VALUES(4,1731961102,2);
INSERT INTO member VALUES(4,1731961102,4);
INSERT INTO member VALUES(4,1731961105,3);
INSERT INTO member VALUES(5,1731961102,1);
INSERT INTO member VALUES(5,1731961102,2);
INSERT INTO member VALUES(5,1731961102,4);
INSERT INTO member VALUES(5,1731961105,3);
INSERT INTO member VALUES(6,1731961102,1);
INSERT INTO member VALUES(6,1731961102,2);
INSERT INTO member VALUES(6,1731961102,4);
INSERT INTO member VALUES(6,1731961105,3);
INSERT INTO member VALUES(7,1731961102,1);
INSERT INTO member VALUES(7,1731961102,2);
INSERT INTO member VALUES(7,1731961102,4);
INSERT INTO member VALUES(7,1731961105,3);
INSERT INTO member VALUES(8,1731961102,1);
INSERT INTO member VALUES(8,1731961102,2);
INSERT INTO member VALUES(8,1731961102,4);
INSERT INTO member VALUES(8,1731961105,3);
INSERT INTO member VALUES(9,1731961102,1);
INSERT INTO member VALUES(9,1731961102,2);
INSERT INTO member VALUES(9,1731961105,3);
INSERT INTO member VALUES(10,1731961102,4);
INSERT INTO member VALUES(11,1731961102,4);
CREATE TABLE counter (
    set_id  INTEGER NOT NULL,
    day     INTEGER NOT NULL,
    members INTEGER NOT NULL,
    PRIMARY KEY (set_id, day)
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES(0,20045,4);
INSERT INTO counter VALUES(1,20045,4);
INSERT INTO counter VALUES(2,20045,3);
INSERT INTO counter VALUES(3,20045,4);
INSERT INTO counter VALUES(4,20045,4);
INSERT INTO counter VALUES(5,20045,4);
INSERT INTO counter VALUES(6,20045,4);
INSERT INTO counter VALUES(7,20045,4);
INSERT INTO counter VALUES(8,20045,4);
INSERT INTO counter VALUES(9,20045,3);
INSERT INTO counter VALUES(10,20045,1);
INSERT INTO counter VALUES(11,20045,1);
CREATE TABLE setname (
    set_id INTEGER PRIMARY KEY,
    spec   TEXT    NOT NULL UNIQUE,
    live   INTEGER NOT NULL             -- how many members are not gone
, title TEXT, description TEXT) STRICT;
INSERT INTO setname VALUES(0,'',3,NULL,NULL);
INSERT INTO setname VALUES(1,'127.0.0.1-9-modoai',3,'A modoai repository',NULL);
INSERT INTO setname VALUES(2,'127.0.0.1-9-modoai:mime:text:plain',2,NULL,NULL);
INSERT INTO setname VALUES(3,'127.0.0.1-9-modoai:mime',3,NULL,NULL);
INSERT INTO setname VALUES(4,'127.0.0.1-9-modoai:mime:text',3,NULL,NULL);
INSERT INTO setname VALUES(5,'1/',3,NULL,NULL);
INSERT INTO setname VALUES(6,'1/127.0.0.1-9-modoai',3,NULL,NULL);
INSERT INTO setname VALUES(7,'1/127.0.0.1-9-modoai:mime',3,NULL,NULL);
INSERT INTO setname VALUES(8,'1/127.0.0.1-9-modoai:mime:text',3,NULL,NULL);
INSERT INTO setname VALUES(9,'1/127.0.0.1-9-modoai:mime:text:plain',2,NULL,NULL);
INSERT INTO setname VALUES(10,'127.0.0.1-9-modoai:mime:text:html',1,NULL,NULL);
INSERT INTO setname VALUES(11,'1/127.0.0.1-9-modoai:mime:text:html',1,NULL,NULL);
CREATE TABLE media (
    media_id INTEGER PRIMARY KEY,
    type     TEXT    NOT NULL UNIQUE
) STRICT;
INSERT INTO media VALUES(1,'text/xml');
CREATE TABLE mount (
    folder TEXT NOT NULL PRIMARY KEY    -- with a slash at the end
) STRICT, WITHOUT ROWID;
CREATE TABLE format (
    format_id INTEGER PRIMARY KEY CHECK (format_id < 4096),
    prefix    TEXT    NOT NULL UNIQUE,
    schema    TEXT    NOT NULL,
    namespace TEXT    NOT NULL
) STRICT;
INSERT INTO format VALUES(1,'oai_dc','http://www.openarchives.org/OAI/2.0/oai_dc.xsd','http://www.openarchives.org/OAI/2.0/oai_dc/');
CREATE TABLE stored (
    key    INTEGER PRIMARY KEY,         -- record.number * 4096 + format.format_id
    size   INTEGER NOT NULL,            -- bytes when unpacked
    digest BLOB    NOT NULL,            -- equal for equal records
    body   BLOB,                        -- packed; null if it is in pieces
    pieces INTEGER                      -- piece.body, if it is in pieces
) STRICT;
INSERT INTO stored VALUES(4097,1056,X'6fb353442d24aaba17e3e67d64ffa62a',X'0128b52ffd602003d5040014043e612e74746578742f706c61696e373620627974657330342d31312d31385432303a31383a32323a2f2f3132372e302e302e313a33353631332f6d6f646f6169301d0014400909998302e20004a2012d909501e0808f2053165d96e163d6f063de404e6c00e36acc44100a315146682a73942a1b80ca80561bfc1008dec9040c0803100065bec0a24c28cb5c40b5cc27908d380146289581',NULL);
INSERT INTO stored VALUES(8193,1056,X'b9b01e4bfa0bcd1b48a1d00810b275d2',X'0128b52ffd602003d5040014043e622e74746578742f706c61696e373620627974657330342d31312d31385432303a31383a32323a2f2f3132372e302e302e313a33353631332f6d6f646f6169301d0014400909998302e20004a2012d909501e0808f2053165d96e163d6f063de404e6c00e36acc44100a315146682a73942a1b80ca80561bfc1008dec9040c0803100065bec0a24c28cb5c40b5cc27908d380146289581',NULL);
INSERT INTO stored VALUES(16385,1070,X'0b08ceec6eeb3050736d7d20a5289b39',X'0128b52ffd602e03cd040032c40f1790b90db075084159c9aac4b2ee6b8f4824578a23f75302ca0ea75c4bf441407c545424f699bccbe9ac6ba49fff04caac6e10e029fbad565a27f8965a58111c001440890c998304e200068241bf990051909501e080d72053a65d967164d68064ded04e6c00c3f998b95057e63c9409ab32831117e52a9be8210cf8aa032202017a720555e6e859662daa653e816cc4093042a90c04',NULL);
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
INSERT INTO memo VALUES('harvest 1961a356fb553fac',X'33');
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
