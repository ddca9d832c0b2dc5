-- What changed in the last publication
-- Events that the latest publication added, changed (with the fields that differ) or removed.
SELECT change, uuid, fields, before, after
FROM event_changes
WHERE account = '{{account}}'
  AND publication = (SELECT max(publication) FROM publications WHERE account = '{{account}}')
ORDER BY change, uuid
