// `init` without a terminal: options, the environment and standard input answer, and nothing is replaced.

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { lastJson, printedCommand, sync } from "../command-line.ts";

const WRONG = "not-the-password";

const settingsIn = async (cwd: string): Promise<unknown> =>
  JSON.parse(await readFile(join(cwd, "brand-events.json"), "utf8"));

test.each(["BRAND_PASSWORD", "standard input"])("the password comes from %s", async (from) => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { email, password } = simulator.credentials;
  const env = from === "BRAND_PASSWORD" ? { BRAND_PASSWORD: password } : {};
  const stdin = Readable.from(from === "BRAND_PASSWORD" ? [] : [`${password}\n`]);

  const args = ["init", "--base-url", simulator.url, "--email", email, "--json"];
  const ended = await sync(args, { cwd, env, stdin });
  const run = await sync(printedCommand(ended.stderr, "run"), { cwd });

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(lastJson(ended)).toEqual({ ok: true });
  expect(ended.stdout + ended.stderr).not.toContain(password);
  expect(run.exitCode, run.stderr).toBe(0);
});

test("a second account is added, and what stood in the file stays", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { email, password } = simulator.credentials;
  const before = { concurrency: 4, baseUrl: `${simulator.url}/`, accounts: { uk: { retainDays: 9 } } };
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify(before));

  const args = ["init", "--account", "us", "--base-url", simulator.url, "--email", email];
  const ended = await sync(args, { cwd, env: { BRAND_PASSWORD: password } });
  const run = await sync(printedCommand(ended.stdout, "run"), { cwd });

  expect(await settingsIn(cwd)).toEqual({
    ...before,
    accounts: { uk: { retainDays: 9 }, us: { credentials: "./credentials/us.json" } },
  });
  expect(run.exitCode, run.stderr).toBe(0);
});

test("wrong credentials are told, with the command that tries again", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });

  const args = ["init", "--base-url", simulator.url, "--email", simulator.credentials.email];
  const ended = await sync(args, { cwd, env: { BRAND_PASSWORD: WRONG } });
  const again = await sync(printedCommand(ended.stdout, "check"), { cwd });

  expect([ended.exitCode, again.exitCode]).toEqual([1, 1]);
  expect(ended.stdout).toContain("LOGIN_REFUSED");
  expect(ended.stdout + ended.stderr).not.toContain(WRONG);
});

test.each([
  {
    what: "an account that is there",
    there: { uk: {} },
    args: ["--account", "uk"],
    says: "has the account uk already",
  },
  { what: "credentials that are there", there: undefined, args: ["--account", "uk"], says: "exists already" },
  { what: "no address", there: undefined, args: ["--account", "us"], says: "Give --base-url" },
  {
    what: "no password",
    there: undefined,
    args: ["--account", "us", "--base-url", "https://service.example", "--email", "a@b.example"],
    says: "Set BRAND_PASSWORD, or pipe it into standard input. Standard input has nothing.",
  },
])("$what: it is refused, and nothing is written", async ({ there, args, says }) => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "credentials"));
  await writeFile(join(cwd, "credentials", "uk.json"), "kept");
  if (there) await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ accounts: there }));
  const before = await readdir(cwd, { recursive: true });

  const { exitCode, stderr } = await sync(["init", ...args], { cwd });

  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(says)]);
  expect(await readdir(cwd, { recursive: true })).toEqual(before);
  expect(await readFile(join(cwd, "credentials", "uk.json"), "utf8")).toBe("kept");
});
