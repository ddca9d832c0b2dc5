-- Texts that do not fit
-- The events with texts that do not fit the type of their column, date included, the most such texts first. The texts are in the table events.
SELECT uuid, misfits, event
FROM events_typed
WHERE account = '{{account}}' AND misfits > 0
ORDER BY misfits DESC, uuid
LIMIT 100
