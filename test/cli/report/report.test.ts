// The page of `report`: the same for the same files, complete, and safe whatever the files hold.

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
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

test("a start that another version left behind needs attention as a failed one does", async () => {
  const world = new ReportWorld();
  const uk = world.account("uk");
  uk.publish();
  uk.fail({ outcome: "SKIPPED", reason: "OTHER_VERSION" });

  const { page } = await world.report("uk");

  expect(page).toContain("<h1>The last run failed (OTHER_VERSION)</h1>");
});

test("no id is twice on a page", async () => {
  const { page } = await smallWorld().report("uk", "us");

  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(ids.toSorted()).toEqual(["account-uk", "account-us", "dotted", "hatched"]);
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
