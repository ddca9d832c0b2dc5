-- Events that disappeared
-- One row for each event that was removed and is not listed again: when it was last removed, and its last details.
SELECT p.published_at AS removed_at, gone.uuid, gone.last_seen
FROM (
  SELECT uuid, max(publication) AS publication, max_by(before, publication) AS last_seen
  FROM event_changes
  WHERE account = '{{account}}' AND change = 'removed'
  GROUP BY uuid
) gone
JOIN publications p ON p.account = '{{account}}' AND p.publication = gone.publication
WHERE gone.uuid NOT IN (SELECT uuid FROM events WHERE account = '{{account}}')
ORDER BY gone.publication DESC, gone.uuid
