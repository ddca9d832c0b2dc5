import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { reportRun } from "../../../bin/cli/output/run-report.ts";
import { Terminal } from "../../../bin/cli/output/terminal.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { PUBLISHED } from "../../sync/rows.ts";

const VALUES = { config: undefined, account: "uk", warehouse: "./warehouse", database: "brand_events" };

/** What a person reads at the end of a run. */
async function reported(row: RunLogEntry): Promise<string> {
  const stream = new PassThrough();
  const terminal = new Terminal(stream);
  const output = {
    stdout: terminal,
    stderr: terminal,
    result: () => undefined,
    given: new GivenOptions({}, {}, "/"),
  };
  reportRun(output, { row }, { ...VALUES, json: false });
  stream.end();
  return text(stream);
}

test("the end of a run says how many events have no details, for which reason", async () => {
  expect(await reported({ ...PUBLISHED, repeated: 8, throttled: 0 })).toBe(
    `PUBLISHED  run 2026-11-21T06-00-00.000Z, 5 min
  1,000 events with details; 8 repeated in the list
  7 of 1,007 listed events have no details: 4 gone (404 or 410), 2 forbidden (403), 1 rejected (no valid uuid, too large, or nested too deep)
  3 added, 2 changed, 1 removed
  900 requests, 1 login, 6 retries
`,
  );
});

test("it says nothing of them where all have details", async () => {
  const counts = { listed: 1_000, gone: 0, forbidden: 0, rejected: 0 };

  expect(await reported({ ...PUBLISHED, ...counts })).not.toContain("no details");
});
