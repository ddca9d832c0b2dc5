// How answers with 429 are told, in words and by the commands.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { throttledText } from "../../../bin/cli/output/words.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { against, sync, writeCredentials } from "../command-line.ts";

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

test("the end of a run, its status and its report say it", async () => {
  const cwd = await temporaryDirectory();
  const fault = { kind: "status", status: 429, headers: { "retry-after": "0" } } as const;
  await using simulator = await Simulator.start({
    events: makeEvents(30),
    faults: [{ match: { path: "detail", times: 2 }, fault }],
  });
  await writeCredentials(cwd, simulator);

  const run = await sync(["run", ...against(simulator)], { cwd });
  const status = await sync(["status"], { cwd });
  await sync(["report"], { cwd });

  const page = await readFile(join(cwd, "report.html"), "utf8");
  const fewer =
    /2 answers with 429: the service allows fewer requests a minute than were sent; try --requests-per-minute \d+/;
  const less =
    /2 answers with 429: the service allows less than 180 requests a minute; try --requests-per-minute \d+/;
  expect(run.stdout).toMatch(fewer);
  expect(status.stdout).toMatch(less);
  expect(page).toMatch(less);
});
