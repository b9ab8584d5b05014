-- Since when an item's record in one format is as it is, where that is not record.datestamp: that is of the last change in
-- any format. A list by format goes by the format's own, so that a record in one format is not told again because of another.
CREATE TABLE stamp (
    key       INTEGER PRIMARY KEY,      -- record.number * 4096 + format.format_id
    datestamp INTEGER NOT NULL
) STRICT;
CREATE INDEX stamp_datestamp ON stamp (datestamp);
