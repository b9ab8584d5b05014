-- The window or identifier pass it was last listed in.
ALTER TABLE missing ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
