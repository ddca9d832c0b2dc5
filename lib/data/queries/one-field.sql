-- One field of the events
-- A field of the detail, read from its JSON text: change the path. "discover" shows which fields there are.
SELECT uuid, event_date, json_extract_scalar(event, '$.scope') AS field
FROM events
WHERE account = '{{account}}'
ORDER BY uuid
LIMIT 100
