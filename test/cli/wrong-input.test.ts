// What is wrong, misplaced or hostile in what a person gives: it is refused with what is expected, no secret is repeated, and
// no text has power over a terminal.

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../simulator/account.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { FAILED } from "../sync/rows.ts";
import { against, laptop, lastJson, sync } from "./command-line.ts";
import { Warehouse } from "./warehouse.ts";

const RUN = "2026-01-01T00-00-00.000Z";

test.each([
  ["accept", RUN],
  ["rollback", RUN],
  ["retire", RUN],
  ["remove", "uk", "--yes"],
  ["diff", "held"],
  ["status"],
  ["report"],
  ["query", "SELECT 1"],
  ["views"],
])("%s makes no warehouse, and says where there is none", async (...args) => {
  const cwd = await temporaryDirectory();

  const ended = await sync([...args, "--warehouse", "./wharehouse"], { cwd });

  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ended.stderr).toContain(`There is no warehouse at ${join(cwd, "wharehouse")}. Check --warehouse`);
  expect(await readdir(cwd)).toEqual([]);
});

test("the line of JSON says it as well; of one account status shows that it has nothing", async () => {
  const cwd = await temporaryDirectory();

  const all = await sync(["status", "--json", "--max-age", "1"], { cwd });
  const one = await sync(["status", "--json"], { cwd, env: { BRAND_ACCOUNT: "uk" } });

  expect(lastJson(all)).toEqual({
    error_code: "CONFIG_INVALID",
    error_message: expect.stringContaining("There is no warehouse at"),
  });
  expect(lastJson(one)).toEqual({ account: "uk", head: null, lease: null, held: [], runs: [], doubt: null });
});

test.each([
  ["status", "--account", "nosuch"],
  ["diff", "held", "--account", "nosuch"],
  ["report", "--account", "nosuch"],
  ["remove", "nosuch", "--yes"],
])("%s %s of an account that does not exist exits with 2 and lists those that do", async (...args) => {
  const cwd = await temporaryDirectory();
  const warehouse = new Warehouse(join(cwd, "warehouse"));
  for (const account of ["uk", "de", "de-2"]) await warehouse.publish(account, {});

  const ended = await sync(args, { cwd });

  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ended.stderr).toContain("The warehouse has no account nosuch. Its accounts are: de, de-2, uk.");
});

test("a base URL with a pasted endpoint works", async () => {
  const world = await laptop({ events: makeEvents(3) });

  const ended = await world.command("check", "--base-url", `${world.simulator.url}/v1/events`);

  expect(ended.exitCode).toBe(0);
});

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];
const JSON_TEXT = `{"method":"session","email":"${CANARY.email}","password":"${CANARY.password}"}`;
const URL_TEXT = `https://${CANARY.email}:${CANARY.password}@service.example/path`;

test.each([
  { place: "BRAND_CREDENTIALS", args: ["run", ...LOOPBACK], env: { BRAND_CREDENTIALS: JSON_TEXT } },
  {
    place: "BRAND_CREDENTIALS",
    args: ["check", ...LOOPBACK],
    env: { BRAND_CREDENTIALS: ` \n'${JSON_TEXT}'` },
  },
  { place: "BRAND_WAREHOUSE", args: ["status"], env: { BRAND_WAREHOUSE: JSON_TEXT } },
  { place: "BRAND_CREDENTIALS", args: ["run", ...LOOPBACK], env: { BRAND_CREDENTIALS: URL_TEXT } },
  {
    place: "BRAND_CREDENTIALS",
    args: ["run", ...LOOPBACK],
    env: { BRAND_CREDENTIALS: `${CANARY.email}:${CANARY.password}` },
  },
  { place: "--credentials", args: ["run", ...LOOPBACK, "--credentials", JSON_TEXT] },
  { place: "--credentials", args: ["run", ...LOOPBACK, `--credentials=${JSON_TEXT}`] },
  { place: "--credentials", args: ["run", ...LOOPBACK, "--credentials", `secretsmanager:${JSON_TEXT}`] },
  { place: "--list-pointer", args: ["run", ...LOOPBACK, "--list-pointer", JSON_TEXT] },
  { place: "--list-pointer", args: ["run", ...LOOPBACK, "--list-pointer", URL_TEXT] },
  { place: "--lift", args: ["run", ...LOOPBACK, "--lift", JSON_TEXT] },
  { place: "--lift", args: ["run", ...LOOPBACK, "--lift", `X=${URL_TEXT}`] },
  { place: "--base-url", args: ["run", "--base-url", URL_TEXT] },
  { place: "--warehouse", args: ["status", "--warehouse", URL_TEXT] },
  { place: "--warehouse", args: ["status", "--warehouse", URL_TEXT.replace("https", "s3")] },
  { place: "An argument", args: ["accept", JSON_TEXT] },
  { place: "An argument", args: ["query", JSON_TEXT] },
  { place: "An argument", args: [JSON_TEXT] },
  { place: "too many arguments", args: ["run", URL_TEXT] },
])("$place of $args.0 is refused and not repeated", async ({ place, args, env = {} }) => {
  const cwd = await temporaryDirectory();

  const { exitCode, stdout, stderr } = await sync(args, { cwd, env });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(place);
  expect(`${stdout}${stderr}`.toLowerCase()).not.toContain("canary");
  expect(await readdir(cwd)).toEqual([]);
});

test("the refusal is in the line of JSON too, and says what is expected", async () => {
  const cwd = await temporaryDirectory();

  const ended = await sync(["run", "--json", ...LOOPBACK, "--credentials", JSON_TEXT], { cwd });

  const { outcome, error_code, error_message } = lastJson(ended);
  expect([outcome, error_code]).toEqual(["FAILED", "CONFIG_INVALID"]);
  expect(error_message).toContain(
    "Write credentials to a file with mode 0600 and name that file with --credentials",
  );
});

const FROM_INPUT = ["--credentials", "-"];

test.each(["check", "discover", "run"])("%s works with credentials from standard input", async (command) => {
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "settings.txt"), "");
  const json = JSON.stringify({ method: "session", ...simulator.credentials });
  // A session that the service ends in the middle is renewed with the same credentials.
  simulator.configure({ session: { maxRequests: 3 } });

  const stdin = Readable.from([`\uFEFF${json.slice(0, 30)}`, `${json.slice(30)}\n`]);
  const { exitCode, stderr } = await sync([command, ...FROM_INPUT, ...against(simulator)], { cwd, stdin });

  expect(exitCode, stderr).toBe(0);
});

test.each([
  { what: "nothing", text: "", says: "standard input, which ended before any came" },
  { what: "only white space", text: " \n", says: "which ended before any came" },
  { what: "half of it", text: JSON_TEXT.slice(0, -9), says: "they are not valid JSON" },
  { what: "two of them", text: `${JSON_TEXT}\n${JSON_TEXT}`, says: "they are not valid JSON" },
  { what: "another key", text: `{"pass":"${CANARY.password}"}`, says: "not usable" },
  { what: "Latin-1", text: Buffer.from("{ö", "latin1"), says: "which is not UTF-8 text" },
  { what: "too much", text: CANARY.password.repeat(9_999), says: "more than 65,536 bytes" },
])("$what on standard input is refused: $says", async ({ text, says }) => {
  const cwd = await temporaryDirectory();

  const { exitCode, stdout, stderr } = await sync(["run", ...LOOPBACK, ...FROM_INPUT], {
    cwd,
    stdin: Readable.from([text]),
  });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(`CREDENTIALS_INVALID: `);
  expect(stderr).toContain(says);
  expect(`${stdout}${stderr}`.toLowerCase()).not.toContain("canary");
});

function endless(): Readable {
  return Readable.from(
    (async function* () {
      for (;;) {
        await setImmediate();
        yield Buffer.alloc(65_536);
      }
    })(),
  );
}

const OAUTH = '{"method":"oauth","client_id":"c","client_secret":"s"}';
const AUTHORIZE = [
  "authorize",
  "--auth-url",
  "https://login.test",
  "--redirect-uri",
  "https://app.test/back",
];

test.skipIf(process.platform === "win32").each([
  { what: "a credentials file", args: ["run", ...LOOPBACK, "--credentials", "/dev/zero"], says: "65,536" },
  { what: "a settings file", args: ["status", "--config", "/dev/zero"], says: "16,777,216" },
  { what: "a file of SQL", args: ["query", "-f", "/dev/zero", "--warehouse", "."], says: "16,777,216" },
  { what: "SQL on standard input", args: ["query", "-", "--warehouse", "."], says: "16,777,216" },
  {
    what: "a file of tokens",
    args: [...AUTHORIZE, "--credentials", "oauth.json", "--tokens", "/dev/zero", "--paste"],
    says: "16,777,216",
  },
  {
    what: "a pasted address",
    args: [...AUTHORIZE, "--credentials", "oauth.json", "--paste"],
    says: "65,536",
  },
])("$what that never ends is read up to a size", async ({ args, says }) => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "oauth.json"), OAUTH, { mode: 0o600 });

  const { exitCode, stderr } = await sync(args, { cwd, stdin: endless() });

  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).toMatch(/^(?:CREDENTIALS|CONFIG)_INVALID: |^STORE_FAILED: /m);
  expect(stderr).toContain(` has more than ${says} bytes`);
});

test("a settings file that is nested very deep is refused with the reason", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "brand-events.json"), `{"accounts":${"[".repeat(5_000)}${"]".repeat(5_000)}}`);

  const { exitCode, stderr } = await sync(["status"], { cwd });

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(
    /^CONFIG_INVALID: The settings file \S+ is nested more than 1,000 levels deep, and no setting is\.$/m,
  );
});

test("a terminal is refused, because it would show the password", async () => {
  const cwd = await temporaryDirectory();
  const stdin = Object.assign(new PassThrough(), { isTTY: true });

  const { exitCode, stderr } = await sync(["run", ...LOOPBACK, ...FROM_INPUT], { cwd, stdin });

  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is a terminal")]);
});

test("a stop ends the wait, and lets go of the input", async () => {
  const cwd = await temporaryDirectory();
  const stdin = new PassThrough();
  const stop = new AbortController();
  stdin.once("resume", () => stop.abort(new SyncError("INTERRUPTED", "Stopped.")));

  const { exitCode } = await sync(["run", ...LOOPBACK, ...FROM_INPUT], { cwd, stdin, signal: stop.signal });

  expect([exitCode, stdin.isPaused()]).toEqual([130, true]);
});

test.each([
  { args: ["--paste"], says: "--credentials - and --paste both read standard input" },
  { args: [], says: "It is not known where to store the tokens" },
])("authorize $args with credentials from standard input is refused: $says", async ({ args, says }) => {
  const cwd = await temporaryDirectory();
  const oauth = `{"method":"oauth","client_id":"c","client_secret":"${CANARY.password}"}`;

  const { exitCode, stderr } = await sync(
    ["authorize", "--auth-url", "http://127.0.0.1:1", ...FROM_INPUT, ...args],
    { cwd, stdin: Readable.from([oauth]) },
  );

  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(says)]);
});

const LATIN_1 = Buffer.from(JSON_TEXT.replace("session", "sessiön"), "latin1");
const UTF_16 = Buffer.from(JSON_TEXT, "utf16le");

test.each([
  { what: "credentials in Latin-1", file: "credentials.json", bytes: LATIN_1, code: "CREDENTIALS_INVALID" },
  { what: "settings in UTF-16", file: "brand-events.json", bytes: UTF_16, code: "CONFIG_INVALID" },
])("$what: the file is refused with what to do, before a login", async ({ file, bytes, code }) => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, file), bytes, { mode: 0o600 });

  const { exitCode, stderr } = await sync(["run", ...LOOPBACK, "--credentials", "credentials.json"], { cwd });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${code}: `);
  expect(stderr).toContain(`${join(cwd, file)} is not UTF-8 text. Save it as UTF-8.`);
});

const HOSTILE = "\u001b[2J\u009b31m\u202e\nPUBLISHED";

/** A run log whose texts are hostile, as a service or a colleague could leave one. */
async function warehouseWithHostileLog(cwd: string): Promise<void> {
  const row = { ...FAILED, reason: `${HOSTILE}\u0085`, error_message: HOSTILE };
  const folder = join(cwd, "warehouse", "run-log", "default");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${FAILED.run_id}-1.ndjson`), `${JSON.stringify(row)}\n`);
}

test.each([
  ["SQL that DuckDB quotes", ["query", `SELECT * FROM "${HOSTILE}"`]],
  ["the name of a file", ["run", ...LOOPBACK, "--credentials", `${HOSTILE}.json`]],
  ["an unknown option", ["run", `--${HOSTILE}`]],
  ["an unknown command", [HOSTILE]],
  ["a wrong pointer", ["run", ...LOOPBACK, "--list-pointer", HOSTILE]],
  ["an id", ["accept", HOSTILE]],
  ["the run log", ["status"]],
])("%s controls no terminal and forges no line", async (_, args) => {
  const cwd = await temporaryDirectory();
  await warehouseWithHostileLog(cwd);

  const { stdout, stderr } = await sync(args, { cwd });

  const shown = stdout + stderr;
  expect(shown).toContain("PUBLISHED");
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Control}\u202e]/u);
  expect(shown).not.toMatch(/^PUBLISHED/m);
});

const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
const BASE = ["--base-url", "https://service.test"];
const S3 = ["--warehouse", "s3://bucket-of-a-test/w", "--database", "d"];

test.each([
  ["run", BASE],
  ["run --all", []],
  ["check", BASE],
  ["discover", BASE],
  ["init", BASE],
  ["authorize", ["--auth-url", "https://login.test"]],
  ["status", S3],
  ["accept held", S3],
])("%s is refused with the reason, and writes nothing", async (command, args) => {
  const cwd = await temporaryDirectory();

  const { exitCode, stderr } = await sync([...command.split(" "), ...args], { cwd, env });

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^CONFIG_INVALID: .* NODE_TLS_REJECT_UNAUTHORIZED is 0: .* set NODE_EXTRA_CA_CERTS/);
  expect(await readdir(cwd)).toEqual([]);
});

test("a command that sends nothing is not refused", async () => {
  const { stderr } = await sync(["status"], { cwd: await temporaryDirectory(), env });

  expect(stderr).not.toContain("NODE_TLS_REJECT_UNAUTHORIZED");
});
