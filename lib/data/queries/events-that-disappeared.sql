-- Events that disappeared
-- One row for each event that was removed and is not listed again: when it was last removed, and its last details.
SELECT removed_at, uuid, last_seen
FROM (
  SELECT uuid, publication_from, valid_from AS removed_at, valid_to, is_deleted,
    lag(event) OVER (PARTITION BY account, uuid ORDER BY publication_from) AS last_seen
  FROM event_history
  WHERE account = '{{account}}'
) versions
WHERE is_deleted AND valid_to IS NULL
ORDER BY publication_from DESC, uuid
