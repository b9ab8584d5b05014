-- What an import remembers of a document; null for everything else. See `ImportState`.
ALTER TABLE record ADD COLUMN source INTEGER;       -- hash of the name of its source
ALTER TABLE record ADD COLUMN entry INTEGER;        -- hash of the entry that it was made of
ALTER TABLE record ADD COLUMN reads_files INTEGER;  -- 1 if it also depends on files

-- It was in the columns of a file's state before.
UPDATE record
SET source = changed, entry = inode, reads_files = modified, modified = 0, changed = 0, inode = 0
WHERE (SELECT kind FROM standing) = 'archive';
