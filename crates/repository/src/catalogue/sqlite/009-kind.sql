-- What the catalogue holds: 'site', 'records', 'archive' or 'crawl'; null until it is first written to. For catalogues of
-- earlier versions, infer-kind.sql decides.
ALTER TABLE standing ADD COLUMN kind TEXT;
