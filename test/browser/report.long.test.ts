// The page of `report` in a real browser: its policy, who can read it, and where it fits.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ordinaryDays, ReportWorld } from "../cli/report/report-world.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { inBrowser, startBrowser } from "./browser.ts";

const FULL = "SERVICE_UNAVAILABLE";
const LONG = `${"averylongwordwithoutanyspace".repeat(8)} https://your.service/${"x".repeat(120)}`;

const TWENTY = Array.from({ length: 20 }, (_, index) => `brand${index + 1}`);

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
    name: "several runs of a day",
    accounts: ["uk"],
    fill: (world) => {
      const uk = world.account("uk");
      uk.everyMs = 2 * 60 * 60 * 1000;
      ordinaryDays(uk, 4);
      uk.everyMs = 5_000;
      ordinaryDays(uk, 4);
    },
  },
  {
    name: "twenty accounts",
    accounts: TWENTY,
    fill: (world) => {
      for (const [index, name] of TWENTY.entries()) ordinaryDays(world.account(name), 2 + (index % 2));
      world.account("brand20").fail({ error_code: FULL });
    },
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
    accounts: ["thelongestnamehas40charactersandnohyphen", "fr", "uk"],
    fill: (world) => {
      const uk = world.account("uk");
      ordinaryDays(uk, 45);
      uk.publish({ events: 1_204, counts: { gone: 3, forbidden: 1 }, publication: { action: "rollback" } });
      uk.fail({ error_code: FULL, error_message: LONG, retries: 10, throttled: 4, seconds: 95 });
      uk.hold("DROPPED", LONG, 811);
      ordinaryDays(world.account("thelongestnamehas40charactersandnohyphen"), 3);
    },
  },
];

inBrowser("the page of report", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test.each(CASES)("keeps its policy, has no barrier and fits: $name", async ({ name, accounts, fill }) => {
    const world = new ReportWorld();
    fill(world);

    const { page, complaints, requested } = await opened(world, accounts, 1_000);
    expect([complaints, requested]).toEqual([[], [page.url()]]);

    const found: unknown[] = [await overlaps(page)];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(await barriers(page));
      await picture(page, `${name} ${colorScheme}`);
    }
    await page.setViewportSize({ width: 360, height: 640 });
    found.push(await barriers(page), await overlaps(page));
    await picture(page, `${name} phone`);
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    found.push(await barriers(page));

    expect(found).toEqual([[], [], [], [], [], []]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 680, height: 960 });
    await picture(page, `${name} paper`);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(680);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
  });

  test("runs no script and takes no style, not even one that got into it", async () => {
    const world = new ReportWorld();
    world.account("uk").publish();
    const attack = `<script>document.title = "run"</script><p id="x" style="color: red">x</p><style>p { color: red }</style>`;

    const attacked = (html: string): string => html.replace("<main>", `<main>${attack}`);
    const { page, complaints } = await opened(world, ["uk"], 1_000, attacked);

    expect(await page.title()).toMatch(/^uk: No failure/);
    expect(await page.evaluate("getComputedStyle(document.getElementById('x')).color")).not.toBe(
      "rgb(255, 0, 0)",
    );
    expect(complaints).toHaveLength(3);
  });

  async function opened(
    world: ReportWorld,
    accounts: readonly string[],
    width: number,
    changed = (html: string): string => html,
  ) {
    const file = join(await temporaryDirectory(), "report.html");
    await writeFile(file, changed((await world.report(...accounts)).page));
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    onTestFinished(() => page.close());
    const complaints: string[] = [];
    const requested: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("request", (request) => requested.push(request.url()));
    await page.goto(pathToFileURL(file).href);
    return { page, complaints, requested };
  }

  test("shows on paper the tables that are open", async () => {
    const world = new ReportWorld();
    ordinaryDays(world.account("uk"), 5);
    const { page } = await opened(world, ["uk"], 680);
    const table = page.locator("details").first();

    const seen = [await table.isVisible()];
    await page.emulateMedia({ media: "print" });
    seen.push(await table.isVisible());
    await page.evaluate("document.querySelector('details').open = true");
    seen.push(await table.isVisible(), await page.locator(".chart").first().isVisible());

    expect(seen).toEqual([true, false, true, true]);
  });

  test("begins with what needs attention and the age of the data, in the largest letters", async () => {
    const world = new ReportWorld();
    const uk = world.account("uk");
    ordinaryDays(uk, 5);
    uk.fail({ error_code: FULL });
    ordinaryDays(world.account("us"), 5);

    for (const accounts of [["uk"], ["uk", "us"]]) {
      const { page } = await opened(world, accounts, 360);

      const largest: readonly string[] = await page.evaluate(
        "(() => { const sized = [...document.querySelectorAll('main *')].filter((each) => [...each.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim())).map((each) => [parseFloat(getComputedStyle(each).fontSize), each.textContent]); const most = Math.max(...sized.map(([size]) => size)); return sized.filter(([size]) => size === most).map(([, text]) => text); })()",
      );

      expect(largest.slice(0, 2)).toEqual(
        accounts.length === 1
          ? ["The last run failed (SERVICE_UNAVAILABLE)", "27 h 0 min ago"]
          : ["2 accounts: uk needs attention", "The oldest data are from 27 h 0 min ago (uk)"],
      );
    }
  });

  test("uses the width of a desktop: the three charts are beside each other", async () => {
    const world = new ReportWorld();
    ordinaryDays(world.account("uk"), 5);
    const { page } = await opened(world, ["uk"], 1_440);

    const tops = async (): Promise<number> =>
      page.evaluate(
        "new Set([...document.querySelectorAll('figure')].map((each) => each.getBoundingClientRect().top)).size",
      );

    expect(await page.locator("figure").count()).toBe(3);
    expect(await tops()).toBe(1);
    await page.setViewportSize({ width: 360, height: 640 });
    expect(await tops()).toBe(3);
  });

  test("is what the picture in the README shows; -u makes that again", async () => {
    const world = new ReportWorld();
    sixWeeks(world);
    const { page } = await opened(world, ["demo"], 1_280);
    await page.emulateMedia({ colorScheme: "light" });
    const last = await page.locator(".figures").boundingBox();
    const clip = { x: 0, y: 0, width: 1_280, height: Math.ceil((last?.y ?? 0) + (last?.height ?? 0) + 16) };
    const today = await page.screenshot({ clip, fullPage: true });
    if (isWriting()) await writeFile(PICTURE, today);

    expect(await difference(page, today, await readFile(PICTURE))).toBeLessThan(MOST_DIFFERENT);
  });

  test("opens an account that needs no attention by the link to it", async () => {
    const world = new ReportWorld();
    for (const name of ["uk", "us"]) ordinaryDays(world.account(name), 2);
    const { page } = await opened(world, ["uk", "us"], 1_440);
    const figures = page.locator("#account-us figure").first();

    expect(await figures.isVisible()).toBe(false);
    await page.getByRole("link", { name: "us" }).click();

    expect(await figures.isVisible()).toBe(true);
  });
});

const PICTURE = join(import.meta.dirname, "../../docs/report.png");

/** The parts of a picture of which so many have another brightness make it another one; fonts differ from computer to computer. */
const MOST_DIFFERENT = 0.05;

/** Six weeks with a run a day, of which one was held. */
function sixWeeks(world: ReportWorld): void {
  const demo = world.account("demo");
  ordinaryDays(demo, 40);
  demo.hold("DROPPED", "811 events are 29 % fewer than the 1,142 that readers see now.", 811);
  demo.publish({ events: 1_148, added: 9, changed: 31, removed: 3, run: { seconds: 331 } });
  world.limits.set("demo", { requestsPerMinute: 600, limitWindowSeconds: 60 });
}

/** Whether this start of the tests writes again what they compare with. */
function isWriting(): boolean {
  const { snapshotState } = expect.getState();
  return JSON.stringify(snapshotState).includes('"_updateSnapshot":"all"');
}

/** The share of the parts, each of 20 pixels by 20, whose brightness differs; 1 for pictures of another size. */
async function difference(page: Page, one: Buffer, other: Buffer): Promise<number> {
  const sources = [one, other].map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`);
  await page.goto("about:blank");
  return page.evaluate(`(async () => {
    const [one, other] = await Promise.all(${JSON.stringify(sources)}.map(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const { width, height } = image;
      const canvas = new OffscreenCanvas(Math.ceil(width / 20), Math.ceil(height / 20));
      const context = canvas.getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      return { width, height, bright: [...data].filter((_, index) => index % 4 === 1) };
    }));
    if (Math.abs(one.width - other.width) > 40 || Math.abs(one.height - other.height) > 40) return 1;
    const parts = Math.min(one.bright.length, other.bright.length);
    return one.bright.slice(0, parts).filter((value, index) => Math.abs(value - other.bright[index]) > 40).length / parts;
  })()`);
}

/** Texts of charts, and what opens the tables below, that cover each other. */
async function overlaps(page: Page): Promise<unknown> {
  return page.evaluate(
    `[...document.querySelectorAll("figure")].filter((each) => each.checkVisibility()).flatMap((each) => {
      const texts = [...each.querySelectorAll(".chart text, .chart > p, .legend > span, summary")].map((one) => [one.textContent, one.getBoundingClientRect()]);
      return texts.flatMap(([text, a], index) => texts.slice(index + 1).filter(([, b]) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2).map(([other]) => text + " | " + other));
    })`,
  );
}

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
