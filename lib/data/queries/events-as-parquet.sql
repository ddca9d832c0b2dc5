-- Events as Parquet
-- At your own cost: reads all events once, and stores a copy as a table with typed columns. Replace the table's name.
-- The stack's policy for analysts does not allow it: you need glue:CreateTable, and glue:DeleteTable to drop the table.
-- The workgroup stores the files with the results of queries, where they expire after 7 days and leave an empty table.
-- To keep them, use a workgroup of your own, with external_location = 's3://bucket/folder/' beside the format.
CREATE TABLE events_parquet
WITH (format = 'PARQUET', write_compression = 'ZSTD') AS
SELECT *
FROM events_typed
WHERE account = '{{account}}'
