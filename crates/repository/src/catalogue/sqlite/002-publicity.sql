-- 0 = only the host can tell who may know of it, 1 = everybody could GET it at the last look, 2 = everybody could once.
ALTER TABLE record ADD COLUMN publicity INTEGER NOT NULL DEFAULT 0;
