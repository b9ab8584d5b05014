-- What belongs into a set, for those who wonder, where that was told.
ALTER TABLE setname ADD COLUMN description TEXT;
