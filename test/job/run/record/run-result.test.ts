// Work that a run can do without does not end it, whatever the store or another process did to it.

import { expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { orWarn, StartSkipped } from "../../../../lambdas/job/run/record/run-result.ts";
import { LogLines } from "../../runtime/log-lines.ts";

test.each([
  {
    what: "an error of the job",
    error: new SyncError("STORE_FAILED", "The disk is full."),
    line: 'warn it was left: The disk is full. {"error_code":"STORE_FAILED"}',
  },
  {
    what: "that another process has the lease",
    error: new StartSkipped("LEASE_LOST", "Another process took the account over."),
    line: "warn it was left: Another process took the account over. {}",
  },
])("$what is a warning", async ({ error, line }) => {
  const logger = new LogLines();

  await orWarn(logger, "it was left", Promise.reject(error));

  expect(logger.lines).toEqual([line]);
});

test("a defect is none", async () => {
  const logger = new LogLines();

  const work = orWarn(logger, "it was left", Promise.reject(new TypeError("a defect")));

  await expect(work).rejects.toThrow(TypeError);
  expect(logger.lines).toEqual([]);
});
