// The page of `report`: the same for the same files, complete, and safe whatever the files hold; its sentences, numbers and
// charts.

import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { html } from "../../../bin/cli/output/html.ts";
import { compared } from "../../../bin/cli/report/account-figures.ts";
import { bars, chart, niceScale } from "../../../bin/cli/report/chart.ts";
import { figures, sizeText } from "../../../bin/cli/report/figure.ts";
import { allowedFor } from "../../../bin/cli/report/run-figures.ts";
import { formatRunId, layout } from "../../../lambdas/job/storage/layout.ts";
import { createRemoval } from "../../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { livingLease } from "../../job/run/lease/lease-world.ts";
import { ordinaryDays, ReportWorld, smallWorld, UUID } from "./report-world.ts";

const POINTER = { pointer: "/<img src=x onerror=alert(1)>", count: 1, types: { string: 1 } } as const;
const HOSTILE = `</style><script>alert(1)</script>"'&<!-- \u202e\u200b x`;

test("a page is the same each time, to the byte, and names no event", async () => {
  const first = await smallWorld().report("uk", "us");
  const again = await smallWorld().report("uk", "us");

  expect(again.page).toBe(first.page);
  expect(first.page).not.toContain(UUID);
  const [, style = ""] = /<style>([^<]*)</.exec(first.page) ?? [];
  expect(first.page).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
  // An element, or a row of a table, on each line, so that a difference can be read; of the style its checksum in the policy.
  const readable = first.page
    .replace(/<style>[^<]*/, "<style>")
    .replaceAll(/>(?=<(?!\/?t[dh]\b|\/tr))/g, ">\n");
  await expect(readable).toMatchFileSnapshot("report.golden");
});

test("an account that has one publication, and nothing to say, has no figure", async () => {
  const world = new ReportWorld();
  world.account("uk").publish();

  const { page } = await world.report("uk");

  expect(page).toContain("<h1>No failure, nothing to decide</h1>");
  expect(page).not.toContain("<figure>");
  expect([...page.matchAll(/<li>(.*?)<\/li>/g)].map(([, text]) => text)).toEqual([
    "12 events in the first publication.",
    "The only attempt of a run: published. It took 4 s. 14 requests in the last run, 8\u00a0% of the budget of that time (90\u00a0% of 200 a minute).",
    "1 snapshot takes 7.6 KiB. Lists of changes take another 0 bytes, fetched work 0 bytes.",
    "All 12 listed events have details.",
  ]);
});

test("a snapshot that a run left before the first publication is not one that was published", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  const left = "2026-01-01T00-00-00.000Z";
  uk.snapshot(left, {});
  uk.publish();

  const { page } = await world.report("uk");

  expect(page).toContain(`<th scope="row">${left}</th><td>not published</td>`);
});

test("of a long log the newest 400 publications are shown", async () => {
  const world = new ReportWorld();
  ordinaryDays(world.account("uk"), 402);

  const { page } = await world.report("uk");

  expect(page).toContain("The last 400 publications");
});

test("publications below a removal count no more, and one that is damaged hides nothing", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  uk.publish();
  const removal = { runId: formatRunId(world.clock.nowMs + 1), atMs: world.clock.nowMs + 1, writeId: "1" };
  await createRemoval(accountStore(world.store, "uk"), removal);
  uk.publish({ events: 7, publication: { publication: "0000000003", base_snapshot_id: null } });
  world.store.put(layout("uk").publication("0000000001"), "damaged");
  const read = world.store.read.bind(world.store);
  // The removal is the last that is there.
  world.store.read = async (key) => {
    if (key === layout("uk").publication("0000000002")) await nextTurn();
    return read(key);
  };

  const { page, damaged } = await world.report("uk");

  expect(damaged).toEqual([]);
  expect(page).toContain("<li>7 events in the first publication.</li>");
});

test.each([
  { holder: "2026-11-21T06-00-00.000Z", says: "a run" },
  { holder: "check-2026-11-21T06-00-00.000Z", says: "a command" },
])("$says is running, where $holder has the lease", async ({ holder, says }) => {
  const world = new ReportWorld();
  world.account("uk").publish();
  world.store.put(
    layout("uk").lease,
    livingLease(world.clock.nowMs + 3 * 60 * 60 * 1000, { run_id: holder }),
  );

  const { page } = await world.report("uk");

  expect(page).toContain(`<dt>Running now</dt><dd>${says}</dd><dd>${holder}</dd>`);
});

test("an attempt of the future is marked, and listed last", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  uk.publish();
  const nowMs = world.clock.nowMs;
  world.clock.nowMs = Date.parse("2027-01-01T06:00:00.000Z");
  uk.run({ outcome: "FAILED", error_code: "STORE_FAILED" });
  world.clock.nowMs = nowMs;
  uk.publish();

  const { page } = await world.report("uk");

  const [, attemptsTable = ""] = page.split("The last 3 attempts</summary>");
  const rows = [...attemptsTable.matchAll(/<th scope="row">(.*?)<\/th><td>(.*?)<\/td>/g)].slice(0, 3);
  const attempts = rows.map(([, started, outcome]) => `${started} ${outcome}`);
  expect(attempts).toEqual([
    "2026-08-03 06:00 PUBLISHED",
    "2026-08-02 06:00 PUBLISHED",
    "2027-01-01 06:00 FAILED, in the future",
  ]);
  expect(page).toContain("<h1>No failure, nothing to decide</h1>");
});

test("an attempt whose outcome only a later version knows is counted and drawn by its word", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  ordinaryDays(uk, 2);
  uk.fail({ outcome: "DEFERRED" });

  const { page } = await world.report("uk");

  expect(page).toContain("The last 3 attempts of runs: 2 published, 1 as DEFERRED");
  expect(page).toContain("<h1>No failure, nothing to decide</h1>");
});

test("fields that did not change are one line, which counts those that did", async () => {
  const world = new ReportWorld();
  ordinaryDays(world.account("uk"), 3);

  const { page } = await world.report("uk");

  expect(page).toContain("<li>No field is new, gone or of another type in the last 2 publications.</li>");
});

test("requests are drawn where some met trouble", async () => {
  const world = new ReportWorld();
  const [uk, us] = ["uk", "us"].map((name) => world.account(name));
  for (const account of [uk, us]) account?.publish();
  uk?.publish({ run: { throttled: 2, retries: 1 } });
  us?.publish();

  const { page } = await world.report("uk");
  const { page: well } = await world.report("us");

  expect(page).toMatch(/<p>answers with 429<\/p>[\s\S]*<p>requests sent again<\/p>/);
  expect(page).toMatch(/2 answers with 429[^<]*\. 1 was sent again\./);
  expect(well).not.toMatch(/429|sent again/);
});

test("accounts that need attention come first and are open, then those with the oldest data", async () => {
  const world = new ReportWorld();
  const fill = (name: string, days: number, fail = false): void => {
    const account = world.account(name);
    ordinaryDays(account, days);
    if (fail) account.fail({ error_code: "SERVICE_UNAVAILABLE", error_message: "x" });
  };
  fill("at", 4);
  fill("be", 3);
  fill("ch", 4, true);
  fill("de", 2, true);

  const { page } = await world.report("at", "be", "ch", "de");

  expect(page).toContain("<h1>4 accounts: de and ch need attention</h1>");
  expect(page).toContain('<p class="lead">The oldest data are from 3 days ago (de)</p>');
  const linked = [...page.matchAll(/<a href="#account-(\w+)">/g)].map(([, name]) => name);
  expect(linked).toEqual(["de", "ch", "be", "at"]);
  const sections = [...page.matchAll(/<details class="account"( open)?><summary><h2>(\w+)/g)];
  expect(sections.map(([, open, name]) => [name, open !== undefined])).toEqual([
    ["de", true],
    ["ch", true],
    ["be", false],
    ["at", false],
  ]);
  expect(page).toContain("<strong>The last run failed (SERVICE_UNAVAILABLE)</strong>");
});

test.each([
  { names: ["a", "b", "c", "d", "e"], expected: "5 accounts: a, b, c, d, and e need attention" },
  { names: ["a", "b", "c", "d", "e", "f"], expected: "6 accounts, 6 need attention" },
])("of accounts that need attention up to five are named: $expected", async ({ names, expected }) => {
  const { page } = await new ReportWorld().report(...names);

  expect(page).toContain(`<h1>${expected}</h1>`);
});

test("a start that another version left behind, or that sent no login, needs attention as a failed one does", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  uk.publish();
  uk.fail({ outcome: "SKIPPED", reason: "OTHER_VERSION" });
  const us = world.account("us");
  us.publish();
  us.fail({ outcome: "SKIPPED", reason: "LOGIN_REFUSED" });

  const [left, withheld] = [await world.report("uk"), await world.report("us")];

  expect(left.page).toContain("<h1>The last run was skipped (OTHER_VERSION)</h1>");
  expect(withheld.page).toContain("<h1>The last run was skipped (LOGIN_REFUSED)</h1>");
});

test("nothing on the page runs, loads or has a style of its own, and no text becomes markup", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  uk.publish({ events: 3 });
  uk.publish({ events: 4, fields: [POINTER] });
  uk.hold("DROPPED", HOSTILE);
  uk.fail({ error_message: HOSTILE, reason: HOSTILE, started_at: HOSTILE });

  const { page } = await world.report("uk");

  const tags = new Set([...page.matchAll(/<(\w+)/g)].map(([, tag = ""]) => tag.toLowerCase()));
  expect([...tags].filter((tag) => /script|img|link|iframe|object|form|use|image|foreign/.test(tag))).toEqual(
    [],
  );
  expect(page.match(/<style>/g)).toHaveLength(1);
  expect(page).not.toMatch(/<[^>]*\s(?:style|on\w+|src|xlink:href)=/);
  expect(page.match(/\bhref="[^#]/g)).toBeNull();
  expect(page.match(/url\([^#]/g)).toBeNull();
  expect(page).not.toMatch(/[\u202e\u200b]/u);
  expect(page).toContain("&#60;/style&#62;&#60;script&#62;alert(1)");
  expect(page).toContain('<td class="long">/&#60;key&#62;</td>');
});

test("what is no run is not shown as one", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  uk.publish();
  uk.run({ trigger: "verify", outcome: "DRY_RUN", attempt: 2, requests: 101, events: null });

  const { page } = await world.report("uk");

  expect(page).toContain("<dt>Last run</dt><dd>PUBLISHED</dd>");
  expect(page).toContain("The only attempt of a run: published. It took 4 s. 14 requests in the last run");
});

describe("a number beside an earlier one", () => {
  test.each([
    { now: 12, before: 12, expected: "as many as" },
    { now: 0, before: 0, expected: "as many as" },
    { now: 1_204, before: 1_200, expected: "4 more than" },
    { now: 1_236, before: 1_200, expected: "3\u00a0% more than" },
    { now: 1_185, before: 1_200, expected: "1.3\u00a0% fewer than" },
    { now: 24, before: 12, expected: "100\u00a0% more than" },
    { now: 0, before: 12, expected: "100\u00a0% fewer than" },
    { now: 5, before: 0, expected: "5 more than" },
  ])("$now beside $before is $expected", ({ now, before, expected }) => {
    expect(compared(now, before)).toBe(expected);
  });
});

describe("what the budget allows in the time of an attempt", () => {
  test.each([
    { seconds: 5, requestsPerMinute: 200, limitWindowSeconds: 60, expected: 180 },
    { seconds: 60, requestsPerMinute: 200, limitWindowSeconds: 60, expected: 360 },
    { seconds: 61, requestsPerMinute: 200, limitWindowSeconds: 600, expected: 1_800 },
    { seconds: 61, requestsPerMinute: "unlimited", limitWindowSeconds: 60, expected: null },
  ] as const)(
    "$requestsPerMinute a minute over $limitWindowSeconds s, for $seconds s, is $expected",
    (given) => {
      expect(allowedFor(given, given)).toBe(given.expected);
    },
  );
});

test.each([
  { bytes: 0, expected: "0 bytes" },
  { bytes: 1_023, expected: "1023 bytes" },
  { bytes: 1_536, expected: "1.5 KiB" },
  { bytes: 150 * 1_024, expected: "150 KiB" },
  { bytes: 3 * 1_024 ** 3, expected: "3.0 GiB" },
])("$bytes bytes are shown as $expected", ({ bytes, expected }) => {
  expect(sizeText(bytes)).toBe(expected);
});

const START_MS = Date.parse("2026-12-31T23:58:00.000Z");

const drawn = (counts: readonly (number | null)[], instantsMs: readonly number[], title = "counts"): string =>
  chart([{ title, height: 36, ...bars(counts) }], instantsMs).text;

describe("a scale has round values", () => {
  test.each([
    { values: [0, 7], smallest: 1, expected: [0, 2, 4, 6, 8] },
    { values: [0, 0], smallest: 1, expected: [0, 1] },
    { values: [475, 475], smallest: 1, expected: [475, 476] },
    { values: [1_052, 1_080], smallest: 1, expected: [1_050, 1_060, 1_070, 1_080] },
    { values: [0, 0.31], smallest: 0.1, expected: [0, 0.1, 0.2, 0.3, 0.4] },
    { values: [0, 95], smallest: 0.1, expected: [0, 50, 100] },
    { values: [0, 1_234_567], smallest: 1, expected: [0, 500_000, 1_000_000, 1_500_000] },
  ])("$values: $expected", ({ values, smallest, expected }) => {
    expect(niceScale(values, 4, smallest).ticks).toEqual(expected);
  });
});

/** Below the last panel; the first two texts are those of the scale. */
const labels = (...instants: readonly string[]): readonly string[] =>
  [
    ...drawn(
      Array.from(instants, () => 1),
      instants.map(Date.parse),
    ).matchAll(/>([^<]*)<\/text>/g),
  ]
    .map(([, text = ""]) => text)
    .slice(2);

describe("places are labelled with", () => {
  test.each([
    {
      name: "their days",
      instants: ["2026-12-31T23:58", "2027-02-19T06:00"],
      expected: ["2026-12-31", "2027-02-19"],
    },
    {
      name: "their times and the day once, where all are of one day",
      instants: ["2026-12-31T08:00", "2026-12-31T12:00", "2026-12-31T16:00"],
      expected: ["08:00", "2026-12-31", "12:00", "16:00"],
    },
    {
      name: "their times and each day once, where a day would be there twice",
      instants: ["2026-12-31T08:00", "2026-12-31T16:00", "2027-01-01T00:00"],
      expected: ["08:00", "2026-12-31", "16:00", "00:00", "2027-01-01"],
    },
    {
      name: "seconds, where a minute would be there twice",
      instants: ["2026-12-31T08:00:01", "2026-12-31T08:00:09"],
      expected: ["08:00:01", "2026-12-31", "08:00:09"],
    },
    {
      name: "seconds, even where they are equal",
      instants: ["2026-12-31T08:00:01", "2026-12-31T08:00:01"],
      expected: ["08:00:01", "2026-12-31", "08:00:01"],
    },
    {
      name: "unknown, where a log holds no instant",
      instants: ["2026-12-31T08:00", "", "2026-12-31T16:00"],
      expected: ["08:00", "2026-12-31", "unknown", "16:00", "2026-12-31"],
    },
  ])("$name", ({ instants, expected }) => {
    expect(
      labels(...instants.map((each) => (each === "" ? each : `${each}${each.length === 16 ? ":00" : ""}Z`))),
    ).toEqual(expected);
  });
});

test.each([
  { count: 1, labelled: [1] },
  { count: 2, labelled: [1, 2] },
  { count: 3, labelled: [1, 2, 3] },
  { count: 4, labelled: [1, 4] },
  { count: 6, labelled: [1, 4, 6] },
  { count: 28, labelled: [1, 15, 28] },
])("of $count places those are labelled that a phone has room for: $labelled", ({ count, labelled }) => {
  const days = Array.from({ length: count }, (_, index) => `2026-12-${String(index + 1).padStart(2, "0")}`);

  expect(labels(...days)).toEqual(labelled.map((day) => days[day - 1]));
});

test("the label of a place at the right edge ends there", () => {
  const text = drawn(
    Array.from({ length: 28 }, () => 1),
    Array.from({ length: 28 }, () => START_MS),
  );

  expect(text).toMatch(/<text x="100%"[^>]* text-anchor="end">/);
});

test("a drawing has its label and its title as texts, and few digits", () => {
  const drawing = chart(
    [{ title: 'a "b" <i> &', height: 36, ...bars([1, 3, 2]) }],
    [START_MS, START_MS, START_MS],
  );

  const [{ text } = html``] = figures([{ finding: "<one>", chart: drawing }]);

  expect(text).toContain('<div class="chart" role="img" aria-label="&#60;one&#62;">');
  expect(text).toContain("<p>a &#34;b&#34; &#60;i&#62; &#38;</p>");
  expect(text).not.toMatch(/\d\.\d{3}/);
});

test("what has neither a chart nor a table is one line, below the figures", () => {
  const [first, second, ...others] = figures([
    { finding: "Nothing to see", description: "It is well." },
    { finding: "Something", chart: html`<svg></svg>` },
    { finding: "No more" },
  ]);

  expect(first?.text).toContain("<h3>Something</h3>");
  expect(second?.text).toBe(
    '<ul class="lines">\n<li>Nothing to see. It is well.</li>\n<li>No more.</li>\n</ul>\n',
  );
  expect(others).toEqual([]);
});

test("a legend is drawn for two looks and not for one", () => {
  const look = (name: string) => ({ name, symbol: html`<path/>` });
  const panel = { title: "counts", height: 36, ...bars([1]) };

  expect(chart([{ ...panel, legend: [look("one")] }], [START_MS]).text).not.toContain("one");
  expect(chart([{ ...panel, legend: [look("one"), look("two")] }], [START_MS]).text).toContain("one");
});

test("a place without a number has no bar, and one with nothing has none either", () => {
  expect(drawn([3, null, 0, 1], [0, 1, 2, 3]).match(/<rect /g)).toHaveLength(2);
});

test("a large number is short on its scale", () => {
  expect(drawn([1_234_567], [START_MS])).toContain(">1.23M</text>");
});
