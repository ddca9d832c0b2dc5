-- What am I reading
-- The publication that readers see now, for every account: its snapshot, its time, its number of events.
SELECT p.account, p.publication, p.action, p.snapshot_id, p.published_at, p.events, p.pinned
FROM publications p
JOIN (
  SELECT account, max(publication) AS publication
  FROM publications
  GROUP BY account
) head ON head.account = p.account AND head.publication = p.publication
ORDER BY p.account
