// `event_history`: the versions of each event, from the changes of all publications.

import type { ViewColumn } from "./view-column.ts";

export const EVENT_HISTORY_COLUMNS: readonly ViewColumn[] = [
  { name: "account", type: "VARCHAR" },
  { name: "uuid", type: "VARCHAR" },
  { name: "valid_from", type: "VARCHAR" },
  { name: "valid_to", type: "VARCHAR" },
  { name: "is_deleted", type: "BOOLEAN" },
  { name: "publication_from", type: "VARCHAR" },
  { name: "event", type: "VARCHAR" },
];

/**
 * Its query, the same for both engines. The order is that of the publications: clocks may differ.
 *
 * A publication over a damaged snapshot, or after changes that are lost, is compared with an older one, its base. What the
 * publications between them changed is undone by it without a change of its own. So there an event has what its newest
 * change up to the base says, of those that were not undone before; without one there is no such event.
 */
export const EVENT_HISTORY_SQL = `WITH numbered AS (
  SELECT account, publication, published_at, snapshot_id, base_snapshot_id,
    lag(snapshot_id) OVER (PARTITION BY account ORDER BY publication) AS previous_snapshot_id
  FROM publications
),
undoing AS (
  SELECT p.account, p.publication, p.published_at, coalesce(max(b.publication), '') AS base
  FROM numbered p
  LEFT JOIN numbered b
    ON b.account = p.account AND b.publication < p.publication AND b.snapshot_id = p.base_snapshot_id
  WHERE p.previous_snapshot_id IS NOT NULL AND p.previous_snapshot_id IS DISTINCT FROM p.base_snapshot_id
  GROUP BY p.account, p.publication, p.published_at
),
effects AS (
  SELECT account, publication, publication AS effective, published_at, 0 AS undone FROM numbered
  UNION ALL
  SELECT n.account, n.publication, u.publication AS effective, u.published_at,
    CASE WHEN n.publication > u.base THEN 1 ELSE count(earlier.publication) END AS undone
  FROM numbered n
  JOIN undoing u ON u.account = n.account AND n.publication < u.publication
  LEFT JOIN undoing earlier
    ON earlier.account = n.account AND n.publication > earlier.base AND n.publication < earlier.publication
    AND earlier.publication <= u.base
  GROUP BY n.account, n.publication, u.publication, u.published_at, u.base
),
states AS (
  SELECT c.account, c.uuid, e.effective, e.published_at,
    CASE WHEN e.undone = 0 THEN c.after END AS event,
    row_number() OVER (
      PARTITION BY c.account, c.uuid, e.effective
      ORDER BY CASE WHEN e.undone = 0 THEN 0 ELSE 1 END, c.publication DESC
    ) AS place
  FROM event_changes c
  JOIN effects e ON e.account = c.account AND e.publication = c.publication
),
versions AS (
  SELECT account, uuid, effective, published_at, event,
    row_number() OVER (PARTITION BY account, uuid ORDER BY effective) AS number,
    lag(event) OVER (PARTITION BY account, uuid ORDER BY effective) AS earlier
  FROM states
  WHERE place = 1
)
SELECT account, uuid,
  published_at AS valid_from,
  lead(published_at) OVER (PARTITION BY account, uuid ORDER BY effective) AS valid_to,
  event IS NULL AS is_deleted,
  effective AS publication_from,
  event
FROM versions
WHERE number = 1 OR event IS DISTINCT FROM earlier`;
