// The page of `report` in a real browser: its policy, who can read it, and where it fits.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ordinaryDays, ReportWorld } from "../cli/report/report-world.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { inBrowser, startBrowser } from "./browser.ts";

const FULL = "SERVICE_UNAVAILABLE";
const LONG = `${"averylongwordwithoutanyspace".repeat(8)} https://your.service/${"x".repeat(120)}`;

interface Case {
  readonly name: string;
  readonly accounts: readonly string[];
  readonly fill: (world: ReportWorld) => void;
}

const CASES: readonly Case[] = [
  { name: "an account that never ran", accounts: ["uk"], fill: () => undefined },
  { name: "one publication", accounts: ["uk"], fill: (world) => world.account("uk").publish() },
  {
    name: "300 publications",
    accounts: ["uk"],
    fill: (world) => ordinaryDays(world.account("uk"), 300),
  },
  {
    name: "nothing but held snapshots",
    accounts: ["uk"],
    fill: (world) => {
      const uk = world.account("uk");
      for (let day = 0; day < 9; day += 1) uk.hold("FEW_ROWS", "Only 4 of 12 listed events have details.");
    },
  },
  {
    name: "several accounts, with trouble and long texts",
    accounts: ["a-name-of-forty-characters-is-the-longest", "fr", "uk"],
    fill: (world) => {
      const uk = world.account("uk");
      ordinaryDays(uk, 45);
      uk.publish({ events: 1_204, counts: { gone: 3, forbidden: 1 }, publication: { action: "rollback" } });
      uk.fail({ error_code: FULL, error_message: LONG, retries: 10, throttled: 4, seconds: 95 });
      uk.hold("DROPPED", LONG, 811);
      ordinaryDays(world.account("a-name-of-forty-characters-is-the-longest"), 3);
    },
  },
];

inBrowser("the page of report", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, 60_000);
  afterAll(() => browser?.close());

  test.each(CASES)("keeps its policy, has no barrier and fits: $name", async ({ name, accounts, fill }) => {
    const world = new ReportWorld();
    fill(world);
    const file = join(await temporaryDirectory(), "report.html");
    await writeFile(file, (await world.report(...accounts)).page);
    const page = await browser.newPage({ viewport: { width: 1_000, height: 800 } });
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("request", (request) => complaints.push(request.url()));

    await page.goto(pathToFileURL(file).href);
    expect(complaints).toEqual([pathToFileURL(file).href]);

    const found: unknown[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(await barriers(page));
      await picture(page, `${name} ${colorScheme}`);
    }
    await page.setViewportSize({ width: 360, height: 640 });
    found.push(await barriers(page));
    await picture(page, `${name} phone`);
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    found.push(await barriers(page));

    expect(found).toEqual([[], [], [], []]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 680, height: 960 });
    await picture(page, `${name} paper`);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(680);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    await page.close();
  });

  test("runs no script and takes no style, not even one that got into it", async () => {
    const world = new ReportWorld();
    world.account("uk").publish();
    const { page: text } = await world.report("uk");
    const file = join(await temporaryDirectory(), "report.html");
    const attack = `<script>document.title = "run"</script><p id="x" style="color: red">x</p><style>p { color: red }</style>`;
    await writeFile(file, text.replace("<main>", `<main>${attack}`));
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));

    await page.goto(pathToFileURL(file).href);

    expect(await page.title()).toMatch(/^uk: 12 events/);
    expect(await page.evaluate("getComputedStyle(document.getElementById('x')).color")).not.toBe(
      "rgb(255, 0, 0)",
    );
    expect(complaints).toHaveLength(3);
    await page.close();
  });

  test("shows the same drawing on a phone with fewer labels, and on paper the tables that are open", async () => {
    const world = new ReportWorld();
    ordinaryDays(world.account("uk"), 5);
    const file = join(await temporaryDirectory(), "report.html");
    await writeFile(file, (await world.report("uk")).page);
    const page = await browser.newPage({ viewport: { width: 360, height: 640 } });
    await page.goto(pathToFileURL(file).href);
    const visible = async (): Promise<readonly boolean[]> => [
      await page.locator(".chart").first().isVisible(),
      await page.locator(".chart .extra").first().isVisible(),
      await page.locator("details").first().isVisible(),
    ];

    const seen = [await visible()];
    await page.setViewportSize({ width: 680, height: 960 });
    seen.push(await visible());
    await page.emulateMedia({ media: "print" });
    seen.push(await visible());
    await page.evaluate("document.querySelector('details').open = true");
    seen.push(await visible());

    expect(seen).toEqual([
      [true, false, true],
      [true, true, true],
      [true, true, false],
      [true, true, true],
    ]);
    await page.close();
  });
});

/** What axe-core finds, by rule and element. It runs outside of the page's policy. */
async function barriers(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate(
    "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 200))))",
  );
}

/** Kept for a person to look at, where a folder is named. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  const path = join(folder, `report-${name.replaceAll(/[ ,]+/g, "-")}.png`);
  await page.screenshot({ path, fullPage: true });
}
