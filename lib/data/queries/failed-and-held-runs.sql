-- Failed and held runs
-- Failed and held runs of all accounts, the latest first, with the reason and the remedy.
SELECT started_at, account, run_id, attempt, outcome, reason, error_code, error_message
FROM sync_runs
WHERE outcome IN ('FAILED', 'HELD')
ORDER BY started_at DESC, attempt DESC
LIMIT 100
