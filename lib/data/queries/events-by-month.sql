-- Events by month
-- How many events there are in each month, for dates that begin with year and month.
SELECT substr(event_date, 1, 7) AS month, count(*) AS events
FROM events
WHERE account = '{{account}}'
GROUP BY substr(event_date, 1, 7)
ORDER BY month DESC
