-- The sinks `records` and `jsonl` became one.
UPDATE source SET sink = 'records' WHERE sink = 'jsonl';
