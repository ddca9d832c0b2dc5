-- Changes of the last 7 days
-- What the publications of the last 7 days added, changed (with the fields that differ) and removed, the latest first. Replace the number of days.
SELECT p.published_at, c.change, c.uuid, c.fields
FROM event_changes c
JOIN publications p ON p.account = c.account AND p.publication = c.publication
WHERE c.account = '{{account}}'
  AND p.account = '{{account}}'
  AND from_iso8601_timestamp(p.published_at) >= current_timestamp - INTERVAL '7' DAY
ORDER BY p.publication DESC, c.uuid
