// `init` without a terminal: options, the environment and standard input answer, and nothing is replaced.

import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
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
  // The settings file is in the folder.
  expect(ended.stderr).not.toContain("--config");
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

test("what stands in the file stays to the character, with its mode and a link to it", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { email, password } = simulator.credentials;
  const before = `\uFEFF{\r\n\t"warehouse": "data", "concurrency": 4.0,\r\n\t"accounts": {\r\n\t\t"uk": {"retainDays":9},\r\n\t\t"1": {}\r\n\t},\r\n\t"lifted": []}`;
  await mkdir(join(cwd, "etc"));
  const file = join(cwd, "etc", "settings.json");
  await writeFile(file, before, { mode: 0o600 });
  await symlink("etc/settings.json", join(cwd, "brand-events.json"));

  const args = ["init", "--account", "us", "--base-url", simulator.url, "--email", email];
  const ended = await sync(args, { cwd, env: { BRAND_PASSWORD: password } });

  expect(ended.exitCode, ended.stderr).toBe(0);
  const added = `,\r\n\t\t"us": {\r\n\t\t\t"baseUrl": "${simulator.url}/",\r\n\t\t\t"credentials": "./credentials/us.json"\r\n\t\t}`;
  expect(await readFile(file, "utf8")).toBe(before.replace('"1": {}', `"1": {}${added}`));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readlink(join(cwd, "brand-events.json"))).toBe("etc/settings.json");
});

test("a file of one line gets the account in it, and a new file no absolute path", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { email, password } = simulator.credentials;
  const init = (account: string) => {
    const args = ["init", "--account", account, "--base-url", simulator.url, "--email", email];
    return sync(args, { cwd, env: { BRAND_PASSWORD: password } });
  };

  await init("uk");
  const made = await readFile(join(cwd, "brand-events.json"), "utf8");
  await writeFile(join(cwd, "brand-events.json"), '{"baseUrl":"https://a.example","accounts":{"uk":{}}}');
  await init("us");

  expect(made).not.toMatch(/": "\//);
  expect(await readFile(join(cwd, "brand-events.json"), "utf8")).toBe(
    `{"baseUrl":"https://a.example","accounts":{"uk":{}, "us": {"baseUrl":"${simulator.url}/","credentials":"./credentials/us.json"}}}`,
  );
});

describe("wrong credentials", () => {
  const world = async () => {
    const cwd = await temporaryDirectory();
    const simulator = await Simulator.start({ events: makeEvents(3) });
    const { email, password } = simulator.credentials;
    const init = (typed: string, path = "") =>
      sync(["init", "--base-url", `${simulator.url}${path}`, "--email", email], {
        cwd,
        env: { BRAND_PASSWORD: typed },
      });
    const credentials = join(cwd, "credentials", "default.json");
    return { cwd, password, init, credentials, [Symbol.asyncDispose]: () => simulator.stop() };
  };

  test("are told, with their file and the command that tries again", async () => {
    await using there = await world();

    const ended = await there.init(WRONG);
    const again = await sync(printedCommand(ended.stdout, "check"), there);

    expect([ended.exitCode, again.exitCode]).toEqual([1, 1]);
    expect(ended.stdout).toContain("LOGIN_REFUSED");
    expect(ended.stdout).toContain(`Correct the password or the e-mail address in ${there.credentials}, or`);
    expect(ended.stdout + ended.stderr).not.toContain(WRONG);
  });

  test("and a wrong address can be given again, until a check has passed", async () => {
    await using there = await world();

    const elsewhere = await there.init(there.password, "/elsewhere");
    const file = join(there.cwd, "brand-events.json");
    const written = await readFile(file, "utf8");
    await writeFile(file, written.replace('"credentials"', '"retainDays": 9, "credentials"'));
    const refused = await there.init(WRONG);
    const passed = await there.init(there.password);
    const after = await there.init(WRONG);

    expect([elsewhere, refused, passed, after].map(({ exitCode }) => exitCode)).toEqual([1, 1, 0, 2]);
    expect(after.stderr).toContain("has the account default already");
    expect(JSON.parse(await readFile(file, "utf8")).accounts.default).toEqual({
      baseUrl: expect.not.stringContaining("elsewhere"),
      credentials: "./credentials/default.json",
      retainDays: 9,
    });
    expect(await readFile(there.credentials, "utf8")).toContain(there.password);
    expect(await readdir(join(there.cwd, "credentials"))).toEqual([".gitignore", "default.json"]);
  });

  test.each(["check", "run"])("that are corrected by hand are kept once a %s has worked", async (command) => {
    await using there = await world();
    await there.init(WRONG);
    const file = await readFile(there.credentials, "utf8");
    await writeFile(there.credentials, file.replace(WRONG, there.password));

    const worked = await sync([command], there);
    const after = await there.init(WRONG);

    expect([worked.exitCode, after.exitCode]).toEqual([0, 2]);
  });
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
