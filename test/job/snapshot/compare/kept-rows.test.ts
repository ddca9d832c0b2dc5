// What is kept of a snapshot's rows is bounded by their own size.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { KeptRows } from "../../../../lambdas/job/snapshot/compare/kept-rows.ts";
import { RowDigests } from "../../../../lambdas/job/snapshot/compare/row-digests.ts";
import type { Row } from "../../../../lambdas/job/snapshot/rows/row.ts";

/** Its event is cut out of a much larger response. */
function rowOfLargeResponse(): Row {
  const uuid = "0196c7a0-0000-7000-8000-000000000001";
  const included = Buffer.alloc(1_000_000, "x").toString();
  const response = Buffer.from(`{"included":"${included}","event":{"uuid":"${uuid}"}}`).toString();
  const event = response.slice(response.lastIndexOf("{"), -1);
  return { uuid, event_date: null, scope: null, event, listing: "{}" };
}

function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

it("rows are kept without the responses that their events are a part of", () => {
  const digests = new RowDigests(1);
  const kept = new KeptRows(Buffer.alloc(0));
  const before = usedBytes();

  const keep = (row: Row): void => kept.add(row, digests.set(0, row.uuid, row.event));
  keep(rowOfLargeResponse());

  expect(usedBytes() - before).toBeLessThan(500_000);
  expect(kept.at({ places: [0], digests: digests.records })).toEqual([rowOfLargeResponse()]);
});
