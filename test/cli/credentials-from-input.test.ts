// What `--credentials -` takes from standard input, and what it refuses; a secret is repeated nowhere.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../simulator/account.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, sync } from "./command-line.ts";

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];
const FROM_INPUT = ["--credentials", "-"];
const JSON_TEXT = `{"method":"session","email":"${CANARY.email}","password":"${CANARY.password}"}`;

test.each(["check", "discover", "run"])("%s works with credentials from standard input", async (command) => {
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const cwd = await temporaryDirectory();
  const json = JSON.stringify({ method: "session", ...simulator.credentials });
  // A session that the service ends in the middle is renewed with the same credentials.
  simulator.configure({ session: { maxRequests: 3 } });

  const stdin = Readable.from([`\uFEFF${json.slice(0, 30)}`, `${json.slice(30)}\n`]);
  const { exitCode, stderr } = await sync([command, ...FROM_INPUT, ...against(simulator)], { cwd, stdin });

  expect(exitCode, stderr).toBe(0);
});

test.each([
  { what: "nothing", text: "", says: "standard input (--credentials -), which ended before any came" },
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
