// The run log's lines, as readers of NDJSON take them.

import { expect, test } from "vitest";
import { appendRunLog, runLogEntrySchema } from "../../../../lambdas/job/run/record/run-log.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { FAILED } from "../../../sync/rows.ts";
import { MemoryStore } from "../../storage/memory-store.ts";

test("a row whose texts hold other line ends is one line for every reader", async () => {
  const store = new MemoryStore();
  const row = { ...FAILED, error_message: "one\u0085two\u2028three\u2029four" };

  await appendRunLog(accountStore(store, "uk"), row);

  const [key = ""] = store.keys("run-log/uk/");
  const text = store.text(key) ?? "";
  expect(text).not.toMatch(/[\u0085\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(row);
});

test("a row of an earlier version does not know how many entries were repeated", () => {
  const { repeated: _, ...earlier } = FAILED;

  expect(runLogEntrySchema.parse(earlier)).toEqual({ ...earlier, repeated: null });
});
