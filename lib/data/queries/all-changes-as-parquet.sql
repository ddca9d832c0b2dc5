-- All changes as Parquet
-- At your own cost: lists the files of each publication once, and stores a copy of all changes as one table. Replace the table's name.
-- A question about the changes of years lists as many partitions as there are publications. One about this copy lists none.
-- The stack's policy for analysts does not allow it: you need glue:CreateTable, and glue:DeleteTable to drop the table.
-- The workgroup stores the files with the results of queries, where they expire after 7 days and leave an empty table.
-- To keep them, use a workgroup of your own, with external_location = 's3://bucket/folder/' beside the format.
CREATE TABLE event_changes_parquet
WITH (format = 'PARQUET', write_compression = 'ZSTD') AS
SELECT c.publication, p.published_at, c.uuid, c.change, c.fields, c.before, c.after
FROM event_changes c
JOIN publications p ON p.account = c.account AND p.publication = c.publication
WHERE c.account = '{{account}}' AND p.account = '{{account}}'
