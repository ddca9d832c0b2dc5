-- Events as of a date
-- The events that readers saw at an instant (UTC). Replace the date. Snapshots deleted by retention are not available.
SELECT uuid, event_date, scope, event
FROM event_snapshots
WHERE account = '{{account}}'
  AND snapshot_id = (
    SELECT max_by(snapshot_id, publication)
    FROM publications
    WHERE account = '{{account}}' AND published_at < '2027-01-01T00:00:00Z'
  )
ORDER BY uuid
