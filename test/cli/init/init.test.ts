// `init` without a terminal: options, the environment and standard input answer, and nothing is replaced.

import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { lastJson, printedCommand, sync } from "../command-line.ts";

const WRONG = "not-the-password";

/** A folder beside a service, and `init` of an account of it with this password. */
async function world() {
  const cwd = await temporaryDirectory();
  const simulator = await Simulator.start({ events: makeEvents(3) });
  const { email, password } = simulator.credentials;
  const settings = join(cwd, "brand-events.json");
  const init = (account = "default", typed = password, path = "") =>
    sync(["init", "--account", account, "--base-url", `${simulator.url}${path}`, "--email", email], {
      cwd,
      env: { BRAND_PASSWORD: typed },
    });
  return { cwd, simulator, settings, init, [Symbol.asyncDispose]: () => simulator.stop() };
}

test("the password comes from standard input where no variable has it", async () => {
  await using there = await world();
  const { email, password } = there.simulator.credentials;

  const args = ["init", "--base-url", there.simulator.url, "--email", email, "--json"];
  const ended = await sync(args, { cwd: there.cwd, stdin: Readable.from([`${password}\n`]) });
  const run = await sync(printedCommand(ended.stderr, "run"), there);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(lastJson(ended)).toEqual({ ok: true });
  // The settings file is in the folder.
  expect(ended.stderr).not.toContain("--config");
  expect(ended.stdout + ended.stderr).not.toContain(password);
  expect(run.exitCode, run.stderr).toBe(0);
});

test("a second account is added, and what stood in the file stays", async () => {
  await using there = await world();
  const baseUrl = `${there.simulator.url}/`;
  const before = { concurrency: 4, baseUrl, accounts: { uk: { retainDays: 9 } } };
  await writeFile(there.settings, JSON.stringify(before));

  const ended = await there.init("us");
  const run = await sync(printedCommand(ended.stdout, "run"), there);

  expect(JSON.parse(await readFile(there.settings, "utf8"))).toEqual({
    ...before,
    accounts: { uk: { retainDays: 9 }, us: { credentials: "./credentials/us.json" } },
  });
  expect(run.exitCode, run.stderr).toBe(0);
});

test("what stands in the file stays to the character, with its mode and a link to it", async () => {
  await using there = await world();
  const before = `\uFEFF{\r\n\t"warehouse": "data", "concurrency": 4.0,\r\n\t"accounts": {\r\n\t\t"uk": {"retainDays":9},\r\n\t\t"1": {}\r\n\t},\r\n\t"lifted": []}`;
  await mkdir(join(there.cwd, "etc"));
  const file = join(there.cwd, "etc", "settings.json");
  await writeFile(file, before, { mode: 0o600 });
  await symlink("etc/settings.json", there.settings);

  const ended = await there.init("us");

  expect(ended.exitCode, ended.stderr).toBe(0);
  const added = `,\r\n\t\t"us": {\r\n\t\t\t"baseUrl": "${there.simulator.url}/",\r\n\t\t\t"credentials": "./credentials/us.json"\r\n\t\t}`;
  expect(await readFile(file, "utf8")).toBe(before.replace('"1": {}', `"1": {}${added}`));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readlink(there.settings)).toBe("etc/settings.json");
});

test("a new account has the address of the others, where no other is given", async () => {
  await using there = await world();
  const { email, password } = there.simulator.credentials;
  const baseUrl = `${there.simulator.url}/`;
  const accounts = { uk: { baseUrl: "https://one.example/" }, fr: { baseUrl } };
  await writeFile(there.settings, JSON.stringify({ baseUrl: "https://top.example", accounts }));

  const ended = await sync(["init", "--account", "us", "--email", email], {
    cwd: there.cwd,
    env: { BRAND_PASSWORD: password },
  });

  expect(ended.exitCode, ended.stderr).toBe(0);
  const after = JSON.parse(await readFile(there.settings, "utf8"));
  expect(after.accounts.us).toEqual({ baseUrl, credentials: "./credentials/us.json" });
});

test("the schema for editors is written beside a new file, which names it, and not over one that is there", async () => {
  await using there = await world();
  const schema = join(there.cwd, "brand-events.schema.json");
  const own = await readFile(join(import.meta.dirname, "../../../brand-events.schema.json"), "utf8");

  await there.init("uk");
  const [made, first] = [await readFile(schema, "utf8"), JSON.parse(await readFile(there.settings, "utf8"))];
  await rm(there.settings);
  await writeFile(schema, "{}");
  await there.init("us");

  expect(made).toBe(own);
  expect(first.$schema).toBe("./brand-events.schema.json");
  expect(await readFile(schema, "utf8")).toBe("{}");
});

test("a file of one line gets the account in it, and a new file no absolute path", async () => {
  await using there = await world();

  await there.init("uk");
  const made = await readFile(there.settings, "utf8");
  await writeFile(there.settings, '{"baseUrl":"https://a.example","accounts":{"uk":{}}}');
  await there.init("us");

  expect(made).not.toMatch(/": "\//);
  expect(await readFile(there.settings, "utf8")).toBe(
    `{"baseUrl":"https://a.example","accounts":{"uk":{}, "us": {"baseUrl":"${there.simulator.url}/","credentials":"./credentials/us.json"}}}`,
  );
});

test("the commands that its check names are for the settings of the file", async () => {
  await using there = await world();
  await there.init();
  await sync(["run"], there);
  const snapshots = join(there.cwd, "warehouse/snapshots/default");
  const [snapshot = ""] = await readdir(snapshots);
  await rm(join(snapshots, snapshot, "part-00000.ndjson.gz"));
  await rm(join(there.cwd, "credentials"), { recursive: true });
  await writeFile(there.settings, JSON.stringify({ maxDropPercent: 50, accounts: { us: {} } }));

  const { exitCode, stdout } = await there.init();

  expect(exitCode).toBe(1);
  expect(printedCommand(stdout, "run")).toEqual([
    "run",
    "--over-damaged",
    "--account",
    "default",
    "--config",
    there.settings,
    "--warehouse",
    join(there.cwd, "warehouse"),
  ]);
});

test("a file in the place of a folder is told, with the option that chooses another one", async () => {
  await using there = await world();
  await writeFile(join(there.cwd, "credentials"), "");

  const { exitCode, stderr } = await there.init();

  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^STORE_FAILED: Could not write \S+\/credentials: a file is where a folder should be \(EEXIST\)\. .* with --config\.$/m,
  );
  expect(await readdir(there.cwd)).toEqual(["credentials"]);
});

describe("wrong credentials", () => {
  const credentialsOf = ({ cwd }: { readonly cwd: string }): string =>
    join(cwd, "credentials", "default.json");

  test("are told, with their file and the command that tries again", async () => {
    await using there = await world();

    const ended = await there.init("default", WRONG);
    const again = await sync(printedCommand(ended.stdout, "check"), there);

    expect([ended.exitCode, again.exitCode]).toEqual([1, 1]);
    expect(ended.stdout).toContain("LOGIN_REFUSED");
    expect(ended.stdout).toContain(
      `Correct the password or the e-mail address in ${credentialsOf(there)}, or`,
    );
    expect(ended.stdout + ended.stderr).not.toContain(WRONG);
  });

  test("and a wrong address can be given again, until a check has passed", async () => {
    await using there = await world();
    const { password } = there.simulator.credentials;

    const elsewhere = await there.init("default", password, "/elsewhere");
    const written = await readFile(there.settings, "utf8");
    await writeFile(there.settings, written.replace('"credentials"', '"retainDays": 9, "credentials"'));
    const refused = await there.init("default", WRONG);
    const passed = await there.init();
    const after = await there.init("default", WRONG);

    expect([elsewhere, refused, passed, after].map(({ exitCode }) => exitCode)).toEqual([1, 1, 0, 2]);
    expect(after.stderr).toContain("has the account default already");
    expect(JSON.parse(await readFile(there.settings, "utf8")).accounts.default).toEqual({
      baseUrl: expect.not.stringContaining("elsewhere"),
      credentials: "./credentials/default.json",
      retainDays: 9,
    });
    expect(await readFile(credentialsOf(there), "utf8")).toContain(password);
    expect(await readdir(join(there.cwd, "credentials"))).toEqual([".gitignore", "default.json"]);
  });

  test("that are replaced are not said to be as before where the settings file cannot be", async () => {
    await using there = await world();
    const { password } = there.simulator.credentials;
    await there.init("default", WRONG);
    await writeFile(`${there.settings}.new`, "left behind");

    const { exitCode, stderr } = await there.init();

    expect(exitCode).toBe(2);
    expect(await readFile(credentialsOf(there), "utf8")).toContain(password);
    expect(stderr).toContain("brand-events.json.new exists already");
    expect(stderr).toContain("move that file away.");
    expect(stderr).not.toContain("Nothing was written");
  });

  test.each(["check", "run"])("that are corrected by hand are kept once a %s has worked", async (command) => {
    await using there = await world();
    await there.init("default", WRONG);
    const file = await readFile(credentialsOf(there), "utf8");
    await writeFile(credentialsOf(there), file.replace(WRONG, there.simulator.credentials.password));

    const worked = await sync([command], there);
    const after = await there.init("default", WRONG);

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
