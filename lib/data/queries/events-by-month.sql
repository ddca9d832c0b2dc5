-- Events by month
-- The number of events in each month. Dates must begin with year and month.
SELECT substr(event_date, 1, 7) AS month, count(*) AS events
FROM events
WHERE account = '{{account}}'
GROUP BY substr(event_date, 1, 7)
ORDER BY month DESC
