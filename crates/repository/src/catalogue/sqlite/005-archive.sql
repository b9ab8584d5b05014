-- Documents of an archive. The record that an item's formats are made of is stored under the format '/record', which
-- nobody can ask for and which is not among the formats in record.sets: every item has it. What the item was made of stands
-- in record.size to record.inode, in whatever way the importer uses the numbers.

-- What is remembered for whoever makes formats of records: crosswalks, rules of sets, constants.
CREATE TABLE memo (
    key   TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Grows with every change of a memo, so that readers know when to look again.
ALTER TABLE standing ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
