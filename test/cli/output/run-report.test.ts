// What a person reads at the end of a run.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { reportRun } from "../../../bin/cli/output/run-report.ts";
import { Terminal } from "../../../bin/cli/output/terminal.ts";
import { throttledText } from "../../../bin/cli/output/words.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { PUBLISHED } from "../../sync/rows.ts";
import { laptop } from "../command-line.ts";

const VALUES = { config: undefined, account: "uk", warehouse: "./warehouse", database: "brand_events" };

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

test.each([
  // 900 answers in five minutes, and the window before them.
  {
    sent: 973,
    seconds: 300,
    limit: 200,
    says: "less than 180 requests a minute; try --requests-per-minute 150",
  },
  // Never as much as was used.
  {
    sent: 9_073,
    seconds: 300,
    limit: 200,
    says: "less than 180 requests a minute; try --requests-per-minute 180",
  },
  {
    sent: 1_033,
    seconds: 420,
    limit: "unlimited",
    says: "fewer requests a minute than were sent; try --requests-per-minute 120",
  },
  {
    sent: 110,
    seconds: 3,
    limit: 200,
    says: "less than 180 requests a minute; try --requests-per-minute 35",
  },
  { sent: 93, seconds: 1, limit: 1, says: "less than 1 request a minute; try --requests-per-minute 1" },
] as const)(
  "$sent requests in $seconds s within $limit, of which 73 were refused: $says",
  ({ sent, seconds, limit, says }) => {
    const text = throttledText({ throttled: 73, requests: sent, seconds }, limit);

    expect(text).toBe(`73 answers with 429: the service allows ${says}`);
  },
);

test("nothing is said of a limit where nearly every answer was a 429", () => {
  expect(throttledText({ throttled: 1, requests: 1, seconds: 1 }, 200)).toBe(
    "1 answer with 429 (too many requests)",
  );
});

test("a run's end, its status and its report say how many answers were a 429, and what was repeated in the list", async () => {
  const fault = { kind: "status", status: 429, headers: { "retry-after": "0" } } as const;
  await using world = await laptop({
    events: makeEvents(30),
    list: { pageSize: 30, duplicates: 2 },
    faults: [{ match: { path: "detail", times: 2 }, fault }],
  });

  const run = await world.ask("run");
  const status = await world.command("status");
  await world.command("report");

  const page = await readFile(join(world.cwd, "report.html"), "utf8");
  const fewer =
    /2 answers with 429: the service allows fewer requests a minute than were sent; try --requests-per-minute \d+/;
  const less =
    /2 answers with 429: the service allows less than 180 requests a minute; try --requests-per-minute \d+/;
  expect(run.stdout).toMatch(fewer);
  expect(status.stdout).toMatch(less);
  expect(page).toMatch(less);
  expect(run.stderr).toContain("2 entries of the list had come on a page before");
  expect(run.stdout).toContain("\n  30 events with details; 2 repeated in the list\n");
  expect(status.stdout).toContain("  30 events: 30 added, 0 changed, 0 removed; 2 repeated in the list");
});
