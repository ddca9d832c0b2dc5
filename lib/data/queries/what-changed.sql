-- What changed in the last publication
-- Events added, changed (with the fields that differ) and removed by the publication that readers see.
SELECT change, uuid, fields, before, after
FROM event_changes
WHERE account = '{{account}}'
  AND publication = (SELECT max(publication) FROM publications WHERE account = '{{account}}')
ORDER BY change, uuid
