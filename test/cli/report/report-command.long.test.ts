// `report` on the command line: which accounts, which file, which limits.

import { chmod, cp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOf } from "../../fixtures/later-start.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { laptop, lastJson, start, sync } from "../command-line.ts";
import { Warehouse } from "../warehouse.ts";
import { aRun, smallWorld } from "./report-world.ts";

/** Two accounts, each with one run of 90 requests. */
async function twoAccounts(): Promise<string> {
  const cwd = await temporaryDirectory();
  const warehouse = new Warehouse(join(cwd, "warehouse"));
  for (const account of ["uk", "us"]) {
    await warehouse.publish(account, {});
    const row = aRun({ requests: 90, seconds: 5 });
    await warehouse.put(`run-log/${account}/${row.run_id}-1.ndjson`, [row]);
  }
  return cwd;
}

const pageIn = (cwd: string, name = "report.html"): Promise<string> => readFile(join(cwd, name), "utf8");

test("writes a page of all accounts, in place of the one before, and says where it is", async () => {
  const cwd = await twoAccounts();

  const first = await sync(["report"], { cwd });
  await chmod(join(cwd, "report.html"), 0o600);
  const second = await sync(["report"], { cwd });
  const json = await sync(["report", "--out", "other.html", "--json"], { cwd });

  const file = join(cwd, "report.html");
  expect(first).toEqual({ exitCode: 0, stdout: `The report is in ${file}\n`, stderr: "" });
  expect(second.stdout).toBe(`The report is in ${file}, in place of the one before\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(lastJson(json)).toEqual({ file: join(cwd, "other.html") });
  expect((await readdir(cwd)).toSorted()).toEqual(["other.html", "report.html", "warehouse"]);
  const page = await pageIn(cwd);
  expect(page).toContain("<h1>2 accounts: no failure, nothing to decide</h1>");
  expect(page).toMatch(/id="account-uk"[\s\S]*id="account-us"/);
});

test("shows one account where one is named", async () => {
  const cwd = await twoAccounts();

  await sync(["report", "--account", "us"], { cwd });

  const page = await pageIn(cwd);
  expect(page).toContain("<dt>Readers see</dt><dd>3 events</dd>");
  expect(page).not.toContain("account-uk");
});

test("writes no page into the warehouse", async () => {
  const cwd = await twoAccounts();

  const ended = await sync(["report", "--out", "warehouse/report.html"], { cwd });

  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ended.stderr).toContain("it lies in the warehouse, which is only read");
  expect(await readdir(cwd)).toEqual(["warehouse"]);
});

test("measures the requests of each account by the limit that holds for it", async () => {
  const cwd = await twoAccounts();
  const accounts = { uk: { requestsPerMinute: 400 }, us: { requestsPerMinute: "unlimited" }, fr: {} };
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ accounts }));
  const shares = async (...args: readonly string[]): Promise<readonly (string | undefined)[]> => {
    await sync(["report", ...args], { cwd });
    return [...(await pageIn(cwd)).matchAll(/90 requests in the last run(?:, (\d+)\u00a0%)?/g)].map(
      ([, percent]) => percent,
    );
  };

  expect(await shares()).toEqual(["25", undefined]);
  expect(await shares("--requests-per-minute", "1000")).toEqual(["10", "10"]);
  expect(await shares("--account", "uk", "--limit-window", "120")).toEqual(["13"]);
  expect(await pageIn(cwd)).toContain("on average over 120 s");
});

test("an account with a damaged file does not hide the others", async () => {
  const cwd = await twoAccounts();
  await writeFile(join(cwd, "warehouse/publications/uk/0000000001.ndjson"), "damage");

  const ended = await sync(["report"], { cwd });

  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toContain(
    "STORE_CORRUPT: the account uk: The publication publications/uk/0000000001.ndjson is damaged",
  );
  const page = await pageIn(cwd);
  expect(page).toContain("<h1>2 accounts: uk needs attention</h1>");
  expect(page).toContain("This account cannot be read: STORE_CORRUPT");
  expect(page).toContain("90 requests in the last run");
});

test("a warehouse of version 0.1 is shown whole", async () => {
  const cwd = await temporaryDirectory();
  await cp(folderOf("0.1"), join(cwd, "warehouse"), { recursive: true });

  const ended = await sync(["report"], { cwd });

  expect(ended.exitCode).toBe(0);
  const page = await pageIn(cwd);
  expect(page).toContain("<h1>1 snapshot waits for your decision</h1>");
  expect(page.match(/<figure>/g)).toHaveLength(4);
});

/** Prints the page of the small world. */
const PROGRAM = `const { smallWorld } = await import("${new URL("report-world.ts", import.meta.url)}");
process.stdout.write((await smallWorld().report("uk", "us")).page);`;

test.each(["Pacific/Auckland", "America/Los_Angeles"])("the page is the same in %s", async (zone) => {
  const options = { cwd: await temporaryDirectory(), env: { TZ: zone, LANG: "de_DE.UTF-8" } };

  const { stdout } = await start("--input-type=module", ["--eval", PROGRAM], options).ended;

  expect(stdout).toBe((await smallWorld().report("uk", "us")).page);
});

test("holds nothing of any event", async () => {
  const events = makeEvents(4);
  const world = await laptop({ events });
  await world.ask("run");
  await world.ask("run");

  await world.command("report");

  const page = await pageIn(world.cwd);
  const values = events.flatMap(({ uuid, source }) => [
    uuid,
    ...[...source.matchAll(/"(?:name|amount)":"?([^",}]{4,})/g)].map(([, value = ""]) => value),
  ]);
  expect(values.length).toBeGreaterThan(7);
  expect(values.filter((value) => page.includes(value))).toEqual([]);
});
