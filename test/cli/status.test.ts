// `status` without an account: all accounts of the warehouse, and which have old data.

import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatRunId } from "../../lambdas/job/storage/layout.ts";
import { aManifest } from "../job/snapshot/files/manifests.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { FAILED } from "../sync/rows.ts";
import { type Ended, lastJson, printedCommand, sync } from "./command-line.ts";
import { Warehouse } from "./warehouse.ts";

const HOUR_MS = 60 * 60 * 1000;
const EXECUTION = "arn:aws:states:eu-west-1:1:execution:m:uk-20261121T060000000Z-1";

interface World {
  readonly cwd: string;
  readonly warehouse: Warehouse;
  /** The snapshots of de and uk. */
  readonly snapshots: Readonly<Record<"de" | "uk", string>>;
}

/** de: data of 30 hours ago; fr: one failed run; uk: data of 2 hours ago, and a run of an execution. */
async function threeAccounts(): Promise<World> {
  const cwd = await temporaryDirectory();
  const warehouse = new Warehouse(join(cwd, "warehouse"));
  const before = (hours: number): string => formatRunId(Date.now() - hours * HOUR_MS);
  const snapshots = { de: before(30), uk: before(2) };
  await warehouse.publish("de", { snapshot_id: snapshots.de, events: 1, pinned: true });
  await warehouse.publish("uk", { snapshot_id: snapshots.uk, events: 1_002 });
  await warehouse.put("run-log/fr/2026-11-21T06-00-00.000Z-1.ndjson", [failedRun]);
  const at = new Date().toISOString();
  const lease = { run_id: before(1), holder: null, renewed_at: at, use_since: at, expires_at: null };
  await warehouse.put("accounts/uk/lease.json", [{ ...lease, execution: EXECUTION, use: [] }]);
  return { cwd, warehouse, snapshots };
}

const status = ({ cwd }: World, ...args: readonly string[]): Promise<Ended> =>
  sync(["status", ...args], { cwd });

test("shows a line for each account, and how to see more of one", async () => {
  const world = await threeAccounts();

  const { exitCode, stdout, stderr } = await status(world);

  const cells = stdout.split("\n").map((line) => line.trimEnd().split(/ {2,}/));
  // A column that is empty for all, as "held" is here, is not there.
  expect(cells[0]).toEqual(["account", "readers see", "as of", "last outcome", "running"]);
  expect(cells[2]).toEqual(["de", "1 event, pinned", expect.stringMatching(/UTC, 30 h \d min ago$/)]);
  expect(cells[3]).toEqual(["fr", "nothing", "FAILED LOGIN_REFUSED"]);
  expect(cells[4]).toEqual([
    "uk",
    "1,002 events",
    expect.stringMatching(/UTC, 2 h \d min ago$/),
    expect.stringMatching(/^\S+Z, in the execution uk-20261121T060000000Z-1$/),
  ]);
  const { directory } = world.warehouse;
  expect(stdout).toContain(
    `(3 rows)\nfr: FAILED LOGIN_REFUSED at 2026-11-21 06:00 UTC: refused. Then start again: run, which needs --base-url or a settings file\nIn ${directory} on host ${hostname()}\nThe account fr needs attention: npm run sync -- status --account fr --warehouse ${directory}\n`,
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
});

/** de: a snapshot is held over data of 30 hours ago; fr: a failed run; uk: fine, and a run is under way. */
async function heldAccount(): Promise<World> {
  const world = await threeAccounts();
  const at = formatRunId(Date.now() - 5 * HOUR_MS);
  const mark = {
    reason: "DROPPED",
    explanation: "6 events are 50.0 % fewer.",
    held_at: new Date().toISOString(),
  };
  await world.warehouse.manifest(aManifest({ account: "de", snapshot_id: at }));
  await world.warehouse.put(`snapshots/de/${at}/_held.json`, [mark]);
  const held = { ...failedRun, run_id: at, started_at: new Date(Date.now() - 5 * HOUR_MS).toISOString() };
  const ended = { outcome: "HELD", reason: "DROPPED", error_code: null, error_message: null };
  await world.warehouse.put(`run-log/de/${at}-1.ndjson`, [{ ...held, ...ended }]);
  return world;
}

test("at a terminal of 80 columns no line of the table is broken, and no column is empty", async () => {
  const world = await heldAccount();

  const { stdout } = await sync(["status"], { ...world, columns: 80 });

  const [header = "", , ...rows] = stdout.slice(0, stdout.indexOf("(3 rows)")).trimEnd().split("\n");
  const cells = [header, ...rows].map((line) => line.split(/ {2,}/));
  expect(cells).toEqual([
    ["account", "readers see", "as of", "last outcome", "held", "running"],
    ["de", "1 event, pinned", "30 h 0 min ago", "HELD DROPPED", "1"],
    ["fr", "nothing", "FAILED LOGIN_REFUSED"],
    ["uk", "1,002 events", "2 h 0 min ago", "60 min"],
  ]);
  expect([header, ...rows].filter((line) => line.length > 80)).toEqual([]);
  expect(stdout).not.toContain("cut to fit");
});

test("at 80 columns a table with long names says the most urgent, whole", async () => {
  const world = await heldAccount();
  const name = "an-account-with-a-long-name";
  await world.warehouse.put(`run-log/${name}/2026-11-21T06-00-00.000Z-1.ndjson`, [
    { ...failedRun, error_code: "CREDENTIALS_INVALID" },
  ]);

  const { stdout } = await sync(["status"], { ...world, columns: 80 });

  const lines = stdout.slice(0, stdout.indexOf("\n(")).split("\n");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines[2]?.split(/ {2,}/)).toEqual([name, "nothing", "CREDENTIALS_INVALID"]);
});

test("a held account has its sentence and its two commands, and the last line names it: it is the most urgent", async () => {
  const world = await heldAccount();

  const { stdout } = await status(world);

  const [, held = ""] = /^de: (.*)$/m.exec(stdout) ?? [];
  expect(held).toBe("held (DROPPED). 6 events are 50.0 % fewer.");
  const place = `--account de --warehouse ${world.warehouse.directory}`;
  const id = /accept (\S+)/.exec(stdout)?.[1];
  expect(stdout).toContain(
    `${held}\n  look at it: npm run sync -- diff ${id} ${place}\n  publish it anyway: npm run sync -- accept ${id} ${place}\n`,
  );
  expect(stdout.trimEnd().split("\n").at(-1)).toBe(
    `The account de needs attention: npm run sync -- status ${place}`,
  );
});

test("where no account needs attention, the last line names the one with the oldest data", async () => {
  const cwd = await temporaryDirectory();
  const warehouse = new Warehouse(join(cwd, "warehouse"));
  await warehouse.publish("de", { snapshot_id: formatRunId(Date.now() - HOUR_MS), events: 1 });
  await warehouse.publish("uk", { snapshot_id: formatRunId(Date.now() - 2 * HOUR_MS), events: 1 });

  const { stdout } = await sync(["status"], { cwd });

  expect(stdout).toMatch(/\nOne account with its last runs: npm run sync -- status --account uk .*\n$/);
});

test("prints the object of each account as JSON, which is that of one account", async () => {
  const world = await threeAccounts();

  const all = lastJson(await status(world, "--json"));
  const each = ["de", "fr", "uk"].map(async (account) =>
    lastJson(await status(world, "--json", "--account", account)),
  );

  expect(all).toEqual({ accounts: await Promise.all(each) });
  expect(all["accounts"]).toMatchObject([
    { account: "de", head: { snapshot_id: world.snapshots.de }, lease: null, runs: [] },
    { account: "fr", head: null, runs: [{ outcome: "FAILED" }] },
    { account: "uk", lease: { execution: EXECUTION } },
  ]);
});

test("describes the only account of a warehouse as that account", async () => {
  const cwd = await temporaryDirectory();
  const warehouse = new Warehouse(join(cwd, "warehouse"));
  await warehouse.publish("uk", { events: 3 });

  const all = await sync(["status"], { cwd });

  expect(all.stdout).toMatch(/^account uk\n {2}readers see {2}3 events of /);
  expect(all.stdout).toContain(`\n  warehouse    ${warehouse.directory} on host ${hostname()}\n`);
});

test.each([
  {
    args: ["--max-age", "26"],
    exitCode: 5,
    old: /^older than 26 h: de \(of .*, 30 h \d min ago\), fr \(nothing is published\)\n$/,
  },
  {
    args: ["--max-age", "1.5"],
    exitCode: 5,
    old: /^older than 1\.5 h: de .*, fr .*, uk \(of .*, 2 h \d min ago\)\n$/,
  },
  {
    args: ["--max-age", "26", "--account", "de"],
    exitCode: 5,
    old: /^older than 26 h: de [^,]*, 30 h \d min ago\)\n$/,
  },
  { args: ["--max-age", "31", "--account", "de"], exitCode: 0, old: /^$/ },
  {
    args: ["--max-age", "9999", "--account", "fr"],
    exitCode: 5,
    old: /^older than 9999 h: fr \(nothing is published\)\n$/,
  },
  { args: ["--account", "fr"], exitCode: 0, old: /^$/ },
])("$args exits with $exitCode and names the accounts", async ({ args, exitCode, old }) => {
  const world = await threeAccounts();

  for (const form of [[], ["--json"]]) {
    const ended = await status(world, ...form, ...args);

    expect(ended.exitCode).toBe(exitCode);
    expect(ended.stderr).toMatch(old);
  }
});

test("an attempt and data of the future are marked, hide no later failure and are too old", async () => {
  const cwd = await temporaryDirectory();
  const warehouse = new Warehouse(join(cwd, "warehouse"));
  const future = formatRunId(Date.now() + HOUR_MS);
  const instant = new Date(Date.now() + HOUR_MS).toISOString();
  const late = { ...failedRun, run_id: future, started_at: instant, outcome: "PUBLISHED", error_code: null };
  await warehouse.publish("uk", { snapshot_id: future, events: 1 });
  await warehouse.put(`run-log/uk/${future}-1.ndjson`, [late]);
  await warehouse.put("run-log/uk/2026-11-21T06-00-00.000Z-1.ndjson", [failedRun]);

  const { exitCode, stdout, stderr } = await sync(["status", "--max-age", "26"], { cwd });

  expect(stdout).toMatch(
    /newest first\n .* FAILED .*\n .* PUBLISHED .*, in the future by this machine's clock\n/,
  );
  expect(stderr).toContain("uk (of ");
  expect(exitCode).toBe(5);
});

test("shows the accounts of the settings file that never ran, whose data are too old", async () => {
  const world = await threeAccounts();
  const settings = { baseUrl: "https://service.example", accounts: { uk: {}, es: {} } };
  await writeFile(join(world.cwd, "brand-events.json"), JSON.stringify(settings));

  const all = await status(world, "--max-age", "26");
  const one = await status(world, "--json", "--account", "es");

  expect(all.stdout).toMatch(/^es +nothing +never ran$/m);
  const file = join(world.cwd, "brand-events.json");
  expect(all.stdout).toContain(` on host ${hostname()}, settings ${file}\n`);
  expect(printedCommand(all.stdout, "status")).toEqual([
    ...["status", "--account", "fr", "--config", file],
    // The file does not say where the warehouse is.
    ...["--warehouse", world.warehouse.directory],
  ]);
  expect(all.stderr).toContain("es (nothing is published)");
  expect(one).toMatchObject({ exitCode: 0, stderr: "" });
  expect(lastJson(one)).toEqual({ account: "es", head: null, lease: null, held: [], runs: [], doubt: null });
});

test("damage of one account does not hide the others", async () => {
  const world = await threeAccounts();
  await world.warehouse.store.create("publications/de/0000000002.ndjson", Buffer.from("damaged\n"));

  const shown = await status(world, "--max-age", "26");
  const json = await status(world, "--json");

  expect(shown.stdout).toMatch(/^de +unknown: STORE_CORRUPT$/m);
  expect(shown.stdout).toMatch(/^uk +1,002 events/m);
  expect(shown.stderr).toContain("STORE_CORRUPT: the account de: The publication publications/de/0000000002");
  expect(shown.stderr).toContain("older than 26 h: fr (nothing is published)");
  expect([shown.exitCode, json.exitCode]).toEqual([1, 1]);
  expect(lastJson(json)["accounts"]).toMatchObject([
    { account: "de", error_code: "STORE_CORRUPT" },
    { account: "fr" },
    { account: "uk" },
  ]);
});

const RESUMED = "2026-11-22T06-00-00.000Z";

/** What the account's status says last, and what all accounts' says of it; the account's newest attempt is this. */
async function troubleAfter(row: object): Promise<{ last: string; ofAll: string }> {
  const world = await threeAccounts();
  const newest = { ...failedRun, run_id: RESUMED, started_at: "2026-11-22T06:00:00.000Z", ...row };
  await world.warehouse.put(`run-log/fr/${RESUMED}-1.ndjson`, [newest]);
  const env = { BRAND_BASE_URL: "https://service.example", BRAND_AUTH_URL: "https://id.example" };
  const one = await sync(["status", "--account", "fr"], { ...world, env });
  const all = await sync(["status"], { ...world, env });
  return { last: one.stdout.trimEnd().split("\n").at(-1) ?? "", ofAll: all.stdout };
}

// What follows a failure, and what a message leaves out before it: `output/run-report.test.ts`.
test.each([
  {
    what: "a failure that a run resumes",
    row: { error_code: "STORE_FAILED", error_message: "The disk\nis full." },
    says: "FAILED STORE_FAILED at 2026-11-22 06:00 UTC: The disk is full. To resume it: npm run sync -- run --account fr",
  },
  {
    what: "an authorization that has expired",
    row: { error_code: "AUTHORIZATION_EXPIRED", error_message: "Over. Use: npm run sync -- authorize" },
    says: "AUTHORIZATION_EXPIRED at 2026-11-22 06:00 UTC: Over. Use: npm run sync -- authorize. To authorize again: npm run sync -- authorize --account fr",
  },
  {
    what: "a start that another process kept from working",
    row: { outcome: "SKIPPED", reason: "LEASE_TAKEN", error_code: null, error_message: null },
    says: "SKIPPED LEASE_TAKEN at 2026-11-22 06:00 UTC: Another process worked on the account. To start a run: npm run sync -- run --account fr",
  },
  {
    what: "a run that a person stopped",
    row: { error_code: "INTERRUPTED", error_message: "Stopped by SIGINT." },
    says: "interrupted at 2026-11-22 06:00 UTC: Stopped by SIGINT. To resume it: npm run sync -- run --account fr",
  },
  {
    what: "a run before a dry run that failed",
    row: { outcome: "FAILED", reason: "DRY_RUN", error_code: "STORE_FAILED", error_message: "no" },
    says: "FAILED LOGIN_REFUSED at 2026-11-21 06:00 UTC: refused. Then start again: npm run sync -- run --account fr",
  },
  {
    what: "a failure, with a code and by a trigger of a later version",
    row: { trigger: "event", error_code: "QUOTA_SPENT", error_message: "No more today." },
    says: "FAILED QUOTA_SPENT at 2026-11-22 06:00 UTC: No more today. Then start again: npm run sync -- run --account fr",
  },
  {
    what: "a run before one whose outcome only a later version knows",
    row: { outcome: "DEFERRED", error_code: null, error_message: null },
    says: "FAILED LOGIN_REFUSED at 2026-11-21 06:00 UTC: refused. Then start again: npm run sync -- run --account fr",
  },
  {
    what: "a run before a verification that failed",
    row: { trigger: "verify", outcome: "FAILED", error_code: "STORE_FAILED", error_message: "no" },
    says: "FAILED LOGIN_REFUSED at 2026-11-21 06:00 UTC: refused. Then start again: npm run sync -- run --account fr",
  },
])(
  "ends with the newest attempt that came to nothing, and its next command: $what",
  async ({ row, says }) => {
    const { last, ofAll } = await troubleAfter(row);

    expect(last).toContain(says);
    expect(ofAll).toContain(`fr: ${last}\n`);
  },
);

test("ends with nothing of the kind once a snapshot is held", async () => {
  const held = { outcome: "HELD", reason: "DROPPED", error_code: null, error_message: null };

  const { last, ofAll } = await troubleAfter(held);

  expect(last).toContain("2026-11-21 06:00 UTC  FAILED");
  expect(ofAll).not.toMatch(/^fr: /m);
});

const failedRun = {
  ...FAILED,
  trigger: "manual",
  started_at: "2026-11-21T06:00:00.000Z",
  error_message: "refused",
} as const;
