-- Run history
-- The result of each attempt of a run, the latest first.
SELECT started_at, run_id, attempt, trigger, outcome, listed, events, added, changed, removed,
  gone + forbidden + rejected AS left_out, requests, retries, throttled, seconds, reason, error_code
FROM sync_runs
WHERE account = '{{account}}'
ORDER BY started_at DESC, attempt DESC
LIMIT 100
