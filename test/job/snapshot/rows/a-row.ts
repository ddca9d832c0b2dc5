// A row of a snapshot, where a test says nothing else of it.

import type { Row } from "../../../../lambdas/job/snapshot/rows/row.ts";

export function aRow(uuid: string, over: Partial<Row> = {}): Row {
  return { uuid, event_date: null, scope: null, event: `{"uuid":"${uuid}"}`, listing: "{}", ...over };
}
