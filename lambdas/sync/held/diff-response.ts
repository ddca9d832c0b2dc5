// The function's response to a comparison of two snapshots, short enough to read in the console.

import { ChangeSample } from "../../job/run/compare/change-sample.ts";
import { type DiffPorts, diff } from "../../job/run/compare/diff.ts";

/** Of each kind: the response must stay far below what Lambda returns. */
const MOST_UUIDS = 100;

export async function diffResponse(ports: DiffPorts, account: string, snapshotId: string): Promise<object> {
  const sample = new ChangeSample(MOST_UUIDS);
  const { a, b } = await diff(ports, account, { a: snapshotId, b: undefined }, (change) =>
    sample.add(change),
  );
  return { account, a, b, ...sample.counts, uuids: sample.uuids };
}
