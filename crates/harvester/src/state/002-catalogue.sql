-- The short name of the source, which stays what it was when the repository moves.
ALTER TABLE source ADD COLUMN slug TEXT;
-- The catalogue that the sink writes, if one was chosen: its location from the folder on, or from the root.
ALTER TABLE source ADD COLUMN catalogue BLOB;
-- 1 if the sink left it to another source, which keeps it.
ALTER TABLE item ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0;
