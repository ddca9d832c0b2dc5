-- An event's history
-- When one event was added, changed and removed. Replace the uuid (in lower case).
SELECT p.published_at, c.change, c.fields, c.before, c.after
FROM event_changes c
JOIN publications p ON p.account = c.account AND p.publication = c.publication
WHERE c.account = '{{account}}'
  AND c.uuid = '00000000-0000-0000-0000-000000000000'
ORDER BY c.publication
