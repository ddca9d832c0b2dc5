import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../simulator/account.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, startSync, sync, writeCredentials } from "./command-line.ts";

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];

test("check, run, status and query do the whole job and speak JSON", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);

  const check = await sync(["check", "--json", ...against(simulator)], { cwd });
  const run = await sync(["run", "--json", ...against(simulator)], { cwd });
  const status = await sync(["status", "--account", "default", "--json"], { cwd });
  const query = await sync(["query", "--json", "SELECT count(*) AS n, min(account) FROM events"], { cwd });

  expect([check, run, status, query].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  expect(lastJson(check)).toEqual({
    ok: true,
    checks: ["credentials", "login", "list", "detail", "store", "catalog", "snapshot"].map((name) => ({
      name,
      ok: true,
      code: null,
      remedy: null,
    })),
  });
  const row = lastJson(run);
  expect(Object.keys(row)).toEqual([
    "run_id",
    "attempt",
    "trigger",
    "outcome",
    "snapshot_id",
    "listed",
    "events",
    "added",
    "changed",
    "removed",
    "gone",
    "forbidden",
    "rejected",
    "requests",
    "retries",
    "throttled",
    "logins",
    "bytes",
    "started_at",
    "seconds",
    "reason",
    "error_code",
    "error_message",
    "version",
    "repeated",
  ]);
  expect(row).toMatchObject({ outcome: "PUBLISHED", trigger: "manual", events: 12, added: 12, requests: 14 });
  expect(lastJson(status)).toMatchObject({
    account: "default",
    head: { publication: "0000000001", snapshot_id: row["snapshot_id"], events: 12 },
    lease: null,
    held: [],
    runs: [row],
  });
  expect(lastJson(query)).toEqual({ columns: ["n", "min(account)"], rows: [["12", "default"]] });
});

test("the end of a run and status say how many entries of the list were repeated", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({
    events: makeEvents(12),
    list: { pageSize: 12, duplicates: 2 },
  });
  await writeCredentials(cwd, simulator);

  const run = await sync(["run", ...against(simulator)], { cwd });
  const again = await sync(["run", ...against(simulator), "--json"], { cwd });
  const status = await sync(["status", "--account", "default"], { cwd });

  expect(run.stderr).toContain("2 entries of the list had come on a page before");
  expect(run.stdout).toContain("\n  12 events with details; 2 repeated in the list\n");
  expect(lastJson(again)).toMatchObject({ outcome: "PUBLISHED", repeated: 2 });
  expect(status.stdout).toContain("  12 events: 12 added, 0 changed, 0 removed; 2 repeated in the list\n");
});

test("options beat environment variables, which beat defaults", async () => {
  const cwd = await temporaryDirectory();
  const env = { BRAND_ACCOUNT: "from-env", BRAND_WAREHOUSE: join(cwd, "elsewhere"), BRAND_JSON: "true" };

  const fromEnvironment = await sync(["status"], { cwd, env });
  const fromOption = await sync(["status", "--account", "from-option"], { cwd, env });
  const empty = await sync(["status"], { cwd, env: { ...env, BRAND_ACCOUNT: "" } });

  expect(lastJson(fromEnvironment)).toEqual({
    account: "from-env",
    head: null,
    lease: null,
    held: [],
    runs: [],
  });
  expect(lastJson(fromOption)["account"]).toBe("from-option");
  expect(empty.stderr).toContain(`There is no warehouse at ${env.BRAND_WAREHOUSE}.`);
});

test.each([
  { what: "an option", args: ["run"], code: "CONFIG_INVALID" },
  { what: "a usage error", args: ["run", "--nonsense"], code: "CONFIG_INVALID" },
  { what: "a missing file", args: ["run", ...LOOPBACK], code: "CREDENTIALS_INVALID" },
  { what: "an id", args: ["accept", "2026-01-01T00-00-00.000Z"], code: "SNAPSHOT_NOT_FOUND" },
])("BRAND_JSON=true gives a line of JSON for a failure by $what", async ({ args, code }) => {
  const ended = await sync(args, { cwd: await temporaryDirectory(), env: { BRAND_JSON: "true" } });

  expect(ended.exitCode).toBe(2);
  expect(lastJson(ended)).toMatchObject({ outcome: "FAILED", error_code: code });
});

test("a held run exits with 3, and the readers' snapshot stays", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  await sync(["run", ...against(simulator)], { cwd });
  simulator.setEvents(makeEvents(6));

  const held = await sync(["run", ...against(simulator)], { cwd });
  const count = await sync(["query", "--json", "SELECT count(*) FROM events"], { cwd });

  expect(held.exitCode).toBe(3);
  expect(held.stdout).toContain("HELD");
  expect(held.stdout).toContain("the limit is 20 % (--max-drop");
  expect(lastJson(count)["rows"]).toEqual([["12"]]);
});

test("a run that meets another one exits with 4; Ctrl-C exits with 130, frees the lease and keeps the work", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(40), latencyMs: 200 });
  await writeCredentials(cwd, simulator);
  const working = startSync(["run", "--json", "--concurrency", "1", ...against(simulator)], { cwd });
  while (simulator.counts.details === 0) await new Promise((resolve) => setTimeout(resolve, 20));

  const second = await sync(["run", "--json", ...against(simulator)], { cwd });
  working.process.kill("SIGINT");
  const first = await working.ended;
  const status = lastJson(await sync(["status", "--account", "default", "--json"], { cwd }));
  simulator.configure({ latencyMs: 0 });
  const third = await sync(["run", "--json", ...against(simulator)], { cwd });

  expect(second.exitCode).toBe(4);
  expect(lastJson(second)).toMatchObject({ outcome: "SKIPPED", reason: "LEASE_TAKEN" });
  expect(first.exitCode).toBe(130);
  expect(lastJson(first)).toMatchObject({ outcome: "FAILED", error_code: "INTERRUPTED" });
  expect(status["lease"]).toBeNull();
  expect(lastJson(third)).toMatchObject({
    outcome: "PUBLISHED",
    run_id: lastJson(first)["run_id"],
    attempt: 2,
  });
});

test.each([
  { what: "an unknown option", args: ["run", "--nonsense"], says: "unknown option" },
  {
    what: "an option that is not built",
    args: ["run", ...LOOPBACK, "--log-file", "x"],
    says: "unknown option",
  },
  { what: "an unknown command", args: ["authorise"], says: "unknown command" },
  { what: "no SQL", args: ["query"], says: "There is no SQL." },
  { what: "no base URL", args: ["run"], says: "--base-url" },
  { what: "a base URL that is none", args: ["run", "--base-url", "example"], says: "--base-url" },
  {
    what: "http: to a host that is not loopback",
    args: ["run", "--base-url", "http://service.example"],
    says: "https",
  },
  {
    what: "a wrong account",
    args: ["run", ...LOOPBACK, "--account", "UK"],
    says: "--account: expected a name of 1 to 40",
  },
  {
    what: "a wrong limit",
    args: ["run", ...LOOPBACK, "--requests-per-minute", "0"],
    says: '--requests-per-minute: expected a whole number from 1 to 1000000000000, or "unlimited", and got 0',
  },
  {
    what: "a limit in words",
    args: ["run", ...LOOPBACK, "--requests-per-minute", "fast"],
    says: '--requests-per-minute: expected a whole number from 1 to 1000000000000, or "unlimited", and got "fast"',
  },
  {
    what: "a window that is too short",
    args: ["run", ...LOOPBACK, "--limit-window", "9"],
    says: "--limit-window: expected a whole number from 10 to 3600, and got 9",
  },
  {
    what: "a wrong percentage",
    args: ["run", ...LOOPBACK, "--max-drop", "120"],
    says: "--max-drop: expected a percentage",
  },
  {
    what: "a wrong filter",
    args: ["run", ...LOOPBACK, "--is-listed", "maybe"],
    says: 'expected "true", "false" or "any", and got "maybe"',
  },
  {
    what: "an identity provider in clear text",
    args: ["run", ...LOOPBACK, "--auth-url", "http://login.example"],
    says: "--auth-url: expected https:",
  },
  { what: "a wrong pointer", args: ["run", ...LOOPBACK, "--list-pointer", "data"], says: "--list-pointer" },
  { what: "--limit without --dry-run", args: ["run", ...LOOPBACK, "--limit", "3"], says: "--dry-run" },
  { what: "no credentials file", args: ["run", ...LOOPBACK], says: '{"method":"session"' },
])("$what exits with 2 and a message that says what to do", async ({ args, says }) => {
  const cwd = await temporaryDirectory();

  const { exitCode, stdout, stderr } = await sync(args, { cwd });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(stdout).toBe("");
});

test.each([
  { what: "no JSON", content: `{"password":"${CANARY.password}"` },
  {
    what: "an unknown method",
    content: `{"method":"token","email":"a@b.c","password":"${CANARY.password}"}`,
  },
  { what: "no password", content: `{"method":"session","email":"${CANARY.email}"}` },
  {
    what: "a key too many",
    content: `{"method":"session","email":"a","password":"b","x":"${CANARY.password}"}`,
  },
])("a credentials file with $what exits with 2 and repeats nothing of it", async ({ content }) => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "credentials.json"), content, { mode: 0o600 });

  const ended = await sync(["run", "--json", ...LOOPBACK], { cwd });

  expect(ended.exitCode).toBe(2);
  expect(lastJson(ended)).toMatchObject({ outcome: "FAILED", error_code: "CREDENTIALS_INVALID" });
  expect(`${ended.stdout}${ended.stderr}`.toLowerCase()).not.toContain("canary");
});

test("a credentials file that others may read is used with a warning", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const file = await writeCredentials(cwd, simulator);
  await chmod(file, 0o644);

  const { exitCode, stderr } = await sync(["check", ...against(simulator)], { cwd });

  expect(exitCode).toBe(0);
  expect(stderr).toContain("chmod 600");
});

test("a warehouse that is a file exits with 1 and a message that says what to do", async () => {
  const cwd = await temporaryDirectory();
  const credentials = `{"method":"session","email":"${CANARY.email}","password":"${CANARY.password}"}`;
  await writeFile(join(cwd, "credentials.json"), credentials, { mode: 0o600 });

  const ended = await sync(["run", ...LOOPBACK, "--json", "--warehouse", "credentials.json"], { cwd });

  expect(ended.exitCode).toBe(1);
  expect(lastJson(ended)).toMatchObject({ outcome: "FAILED", error_code: "STORE_FAILED" });
  expect(ended.stderr).not.toMatch(/^ {4}at /m);
});

test("check continues after a failure and gives each its remedy", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ account: { disabled: true } });
  await writeCredentials(cwd, simulator);

  const ended = await sync(["check", "--json", ...against(simulator)], { cwd });

  expect(ended.exitCode).toBe(1);
  expect(lastJson(ended)).toMatchObject({
    ok: false,
    checks: [
      { name: "credentials", ok: true },
      {
        name: "login",
        ok: false,
        code: "ACCOUNT_DISABLED",
        remedy: expect.stringMatching(/operator|support/),
      },
      { name: "store", ok: true },
      { name: "catalog", ok: true },
      { name: "snapshot", ok: true },
    ],
  });
});

test.each([
  { what: "wrong SQL", sql: "SELEC 1", says: "SELEC" },
  { what: "an unknown table", sql: "SELECT * FROM evnts", says: "events, event_snapshots" },
])("$what exits with 1 and DuckDB's own message", async ({ sql, says }) => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "warehouse/accounts/default"), { recursive: true });
  await writeFile(join(cwd, "warehouse/accounts/default/lease.json"), "{}\n");

  const { exitCode, stderr } = await sync(["query", sql], { cwd });

  expect(exitCode).toBe(1);
  expect(stderr).toContain("QUERY_FAILED");
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test.each(["check", "discover", "run", "verify", "status", "query"])(
  "%s --help shows its options and an example",
  async (command) => {
    const { exitCode, stdout } = await sync([command, "--help"], { cwd: await temporaryDirectory() });

    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Example:\n  npm run sync -- ${command}`);
    expect(stdout).toContain("BRAND_WAREHOUSE");
  },
);

test.each([
  ["run", "--limit", "Fetch only this many events; needs --dry-run"],
  ["discover", "--limit", "Read this many events, 500 at most; without it 50"],
  ["diff", "--limit", "Show this many changes; without it 100"],
  ["diff", "--format", "table, vertical, csv, tsv, json or ndjson; without it table"],
  ["query", "--format", "ndjson or parquet; without it the ending of --out decides"],
])("%s --help says of %s: %s", async (command, option, says) => {
  const { stdout } = await sync([command, "--help"], { cwd: await temporaryDirectory() });

  const [, help = ""] = stdout.replaceAll(/\s+/g, " ").split(` ${option} <`);
  expect(help.split(" (BRAND_")[0]).toContain(says);
});

test.each([
  { what: "publication", key: "publications/default/0000000001.ndjson", command: ["status"] },
  { what: "manifest", key: undefined, command: ["run"] },
])("a damaged $what is named, and nothing published is lost", async ({ key, command }) => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  const first = lastJson(await sync(["run", "--json", ...against(simulator)], { cwd }));
  const damaged = key ?? `snapshots/default/${first["snapshot_id"]}/_manifest.json`;
  await writeFile(join(cwd, "warehouse", damaged), '{"half":');

  const options = command[0] === "run" ? against(simulator) : [];
  const ended = await sync([...command, ...options], { cwd });

  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toContain("STORE_CORRUPT");
  expect(ended.stderr).toContain(damaged);
  expect(ended.stderr).toContain("backup");
});

test("a warehouse where nothing may be made is reported with its path", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "warehouse"));
  await writeFile(join(cwd, "warehouse", "runs"), "a file in the way");
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);

  const ended = await sync(["run", ...against(simulator)], { cwd });

  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toContain("STORE_FAILED");
  expect(ended.stderr).toContain(join(cwd, "warehouse", "runs"));
});

test.each([
  { level: [], says: 0 },
  { level: ["--log-level", "debug"], says: 1 },
])("a log $level has $says lines for each retry", async ({ level, says }) => {
  const cwd = await temporaryDirectory();
  const fault = { kind: "status", status: 503, headers: { "retry-after": "0" } } as const;
  await using simulator = await Simulator.start({
    events: makeEvents(3),
    faults: [{ match: { path: "list" }, fault }],
  });
  await writeCredentials(cwd, simulator);

  const { exitCode, stderr } = await sync(["run", ...level, ...against(simulator)], { cwd });

  expect(exitCode).toBe(0);
  expect(stderr.split("next attempt in").length - 1).toBe(says);
  expect(stderr).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 3 events are listed$/m);
});
