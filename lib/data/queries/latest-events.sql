-- Latest events
-- The events of the latest publication, one row per event.
SELECT uuid, event_date, scope, event
FROM events
WHERE account = '{{account}}'
ORDER BY event_date DESC, uuid
LIMIT 100
