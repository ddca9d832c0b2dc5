-- Events that disappeared
-- Events that were removed and have not come back, with what they last said.
SELECT p.published_at AS removed_at, c.uuid, c.before AS last_seen
FROM event_changes c
JOIN publications p ON p.account = c.account AND p.publication = c.publication
WHERE c.account = '{{account}}'
  AND c.change = 'removed'
  AND c.uuid NOT IN (SELECT uuid FROM events WHERE account = '{{account}}')
ORDER BY c.publication DESC, c.uuid
