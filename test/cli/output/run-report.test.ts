// What a person reads at the end of a run, of a snapshot that is held, and after an attempt that came to nothing: the message,
// and the command that helps.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { describeHeld } from "../../../bin/cli/output/describe-status.ts";
import { sentence, styleHere, styleOf } from "../../../bin/cli/output/next-command.ts";
import { reportRun } from "../../../bin/cli/output/run-report.ts";
import { Terminal } from "../../../bin/cli/output/terminal.ts";
import { age, throttledText } from "../../../bin/cli/output/words.ts";
import { RESTART } from "../../../lambdas/job/errors/sync-error.ts";
import { ifNotAccepted, type Preview } from "../../../lambdas/job/run/record/held-mark.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { afterFailure } from "../../../lambdas/words/ends.ts";
import { ANY_SHELL, say } from "../../../lambdas/words/style.ts";
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
    style: styleOf(new GivenOptions({}, {}, "/")),
  };
  reportRun(output, { row }, { json: false });
  stream.end();
  return text(stream);
}

test("the end of a run says how many events have no details, for which reason", async () => {
  expect(await reported({ ...PUBLISHED, repeated: 8, throttled: 0 })).toBe(
    `PUBLISHED  run 2026-11-21T06-00-00.000Z, 5 min
  1,000 events with details; 8 repeated in the list
  7 of 1,007 listed events have no details: 4 gone (404 or 410), 2 forbidden (403), 1 rejected (no valid uuid, too large, nested too deep, or unreadable)
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
    const text = throttledText({ throttled: 73, requests: sent, seconds }, limit, ANY_SHELL);

    expect(text).toBe(`73 answers with 429: the service allows ${says}`);
  },
);

test("nothing is said of a limit where nearly every answer was a 429", () => {
  expect(throttledText({ throttled: 1, requests: 1, seconds: 1 }, 200, ANY_SHELL)).toBe(
    "1 answer with 429 (too many requests)",
  );
});

test("what another clock may have shown already is not called the future", () => {
  expect(age(600_000, 0)).toBe("0 s ago");
  expect(age(600_001, 0)).toBe("in the future by this machine's clock");
});

test("a run's end, its status and its report say how many answers were a 429, and what was repeated in the list", async () => {
  const fault = { kind: "status", status: 429, headers: { "retry-after": "0" } } as const;
  const world = await laptop({
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

const RUN = "2026-11-21T06-00-00.000Z";
const HEAD = "2026-11-20T06-00-00.000Z";
const DECIDE = [
  `look at it: npm run sync -- diff ${RUN} --account uk`,
  `publish it anyway: npm run sync -- accept ${RUN} --account uk`,
];
const WAIT =
  "or wait: readers keep what they see. The next run makes and judges another one. This one is retired after 30 days.";

const CHANGES = { added: [], changed: [], removed: [] };
const NONE = { ...CHANGES, gone: [], forbidden: [], oversize: [], too_deep: [], unreadable: [] };
const PREVIEW: Preview = {
  base_snapshot_id: HEAD,
  added: 1,
  changed: 0,
  removed: 1_412,
  gone: 0,
  forbidden: 2,
  rejected: 3,
  oversize: 1,
  too_deep: 0,
  unreadable: 0,
  uuids: { ...NONE, added: ["a"], removed: ["b", "c"], forbidden: ["d", "e"], oversize: ["f"] },
};
const STYLE = styleHere(VALUES as Parameters<typeof styleHere>[0]);
const held = (preview?: Preview, isPinned = false) => ({ snapshotId: RUN, preview, isPinned });

test("a held snapshot is described by what publishing it would do, the first uuids, and the commands", () => {
  expect(describeHeld(held(PREVIEW), HEAD, STYLE)).toEqual([
    `publishing it would add 1, change 0 and remove 1,412 events, compared with ${HEAD}, which readers see`,
    "  added, 1: a",
    "  removed, the first 2 of 1,412: b, c",
    "  missing because forbidden (403), 2: d, e",
    "  missing because too large, 1: f",
    "  missing because without a valid uuid, 2",
    ...DECIDE,
    WAIT,
  ]);
});

test.each([
  {
    what: "another head",
    preview: PREVIEW,
    head: "2026-11-20T09-00-00.000Z",
    says: "which readers saw then",
  },
  {
    what: "no head",
    preview: { ...PREVIEW, base_snapshot_id: null },
    head: null,
    says: "nothing was published before",
  },
  {
    what: "a damaged head",
    preview: { ...PREVIEW, added: null, changed: null, removed: null },
    head: HEAD,
    says: "is not known, because a file is damaged (check --deep names it)",
  },
])("says what is compared with $what", ({ preview, head, says }) => {
  expect(describeHeld(held(preview), head, STYLE)[0]).toContain(says);
});

test("what an earlier version has held has its commands alone", () => {
  expect(describeHeld(held(), HEAD, STYLE)).toEqual([...DECIDE, WAIT]);
});

test("waiting changes nothing while the account is pinned", () => {
  expect(describeHeld(held(PREVIEW, true), HEAD, STYLE).at(-1)).toContain(ifNotAccepted(true));
});

const ENVIRONMENT = {
  BRAND_WAREHOUSE: "/data",
  BRAND_CREDENTIALS: "/uk.json",
  BRAND_BASE_URL: "https://service.example",
  BRAND_AUTH_URL: "https://id.example",
  BRAND_MAX_DROP: "50",
  BRAND_LOG_LEVEL: "warn",
  BRAND_JSON: "true",
};
const style = styleOf(new GivenOptions({ account: "uk" }, ENVIRONMENT, "/srv"));

// What follows each end: `test/words/ends.test.ts`.
test("a command to run next has the options of its command, and neither those of the log nor of the result", () => {
  const [, command] = style.step(afterFailure("STORE_FAILED", true));

  expect(command).toBe(
    "npm run sync -- run --account uk --warehouse /data --base-url https://service.example/ --auth-url https://id.example/ --credentials /uk.json --max-drop 50",
  );
  expect(style.step(afterFailure("AUTHORIZATION_EXPIRED", true))).toEqual([
    "To authorize again",
    "npm run sync -- authorize --account uk --auth-url https://id.example/ --credentials /uk.json",
  ]);
});

test("where the address of a service is not known, no command is shown that could not work", () => {
  const unknown = styleOf(new GivenOptions({ account: "uk" }, {}, "/srv"));

  expect(say(RESTART, unknown)).toContain("count as added: run --over-damaged.");
  expect(unknown.step(afterFailure("LIST_INCOMPLETE", false))).toEqual([
    "Then start again",
    "run, which needs --base-url or a settings file",
  ]);
  expect(unknown.step(afterFailure("AUTHORIZATION_EXPIRED", false))[1]).toBe(
    "authorize, which needs --auth-url or a settings file",
  );
});

test("a message is one sentence of bounded length", () => {
  expect(sentence("The disk\n is full")).toBe("The disk is full.");
  expect(sentence("Is it full?")).toBe("Is it full?");
  expect(sentence(null)).toBe("");
  expect(sentence("x".repeat(1_000))).toBe(`${"x".repeat(1_000)}.`);
  expect(sentence("x".repeat(1_001))).toBe(`${"x".repeat(1_000)}…`);
});
