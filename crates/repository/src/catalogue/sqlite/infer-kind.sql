-- The kind of a catalogue that does not store it, from what is in it. Only a crawl has items whose names are URLs.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM memo WHERE key = 'archive') THEN 'archive'
    WHEN EXISTS (SELECT 1 FROM format WHERE prefix NOT LIKE '/%') THEN 'records'
    WHEN EXISTS (SELECT 1 FROM name WHERE name >= 'http:' AND name < 'http;' AND name LIKE 'http://%')
      OR EXISTS (SELECT 1 FROM name WHERE name >= 'https:' AND name < 'https;' AND name LIKE 'https://%') THEN 'crawl'
    WHEN EXISTS (SELECT 1 FROM name) THEN 'site'
END
