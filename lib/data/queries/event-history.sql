-- An event's history
-- The versions of one event: since when and until when readers saw it, and whether it was deleted. Replace the uuid (in lower case).
SELECT valid_from, valid_to, is_deleted, publication_from, event
FROM event_history
WHERE account = '{{account}}' AND uuid = '00000000-0000-0000-0000-000000000000'
ORDER BY publication_from
