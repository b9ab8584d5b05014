-- Digests of the files of an archive's documents, each of one state of a file (decision 019).
CREATE TABLE file (
    path     TEXT    PRIMARY KEY,       -- below the archive's directory of files
    size     INTEGER NOT NULL,          -- size to inode: the state of the file
    modified INTEGER NOT NULL,          -- nanoseconds since 1970
    changed  INTEGER NOT NULL,          -- nanoseconds since 1970
    inode    INTEGER NOT NULL,
    sha256   BLOB    NOT NULL,
    md5      BLOB    NOT NULL
) STRICT, WITHOUT ROWID;
