-- One field of the events
-- One field of the details: replace the path in both places. Text, numbers and booleans are returned as text, objects and arrays as JSON, JSON's null as null. The command "discover" lists the fields.
SELECT uuid, event_date,
  coalesce(json_extract_scalar(event, '$.scope'), nullif(json_format(json_extract(event, '$.scope')), 'null')) AS field
FROM events
WHERE account = '{{account}}'
ORDER BY uuid
LIMIT 100
