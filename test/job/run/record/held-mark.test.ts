// What is said beside a held snapshot: how old the data are that readers keep.

import { expect, test } from "vitest";
import { readersSee } from "../../../../lambdas/job/run/record/held-mark.ts";

const NOW_MS = Date.parse("2026-11-21T08:00:00.000Z");

test.each([
  ["2026-11-20T06-00-00.000Z", 0, "Readers see data of 26 h 0 min ago."],
  ["2026-11-23T06-00-00.000Z", 0, "Readers see data of the future."],
  [null, 12, "Readers see nothing yet."],
  [null, null, "Readers keep what they see."],
  [undefined, 12, "Readers keep what they see."],
  [undefined, undefined, "Readers keep what they see."],
])("compared with %j, %j added: %s", (base_snapshot_id, added, says) => {
  expect(readersSee({ base_snapshot_id, added }, NOW_MS)).toBe(says);
});
