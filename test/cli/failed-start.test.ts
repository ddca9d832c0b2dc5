// A start of a run that fails before it is one is seen the next morning: in the run log of the account that has runs there, and
// nowhere else; and at once, where somebody is told.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { httpServer } from "../job/service/http/local-server.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import {
  atTerminal,
  type Ended,
  laptop,
  lastJson,
  printedCommands,
  sync,
  writeAccounts,
} from "./command-line.ts";

interface World {
  readonly cwd: string;
  readonly file: string;
  /** Where runs of `uk` are. */
  readonly warehouse: string;
  readonly told: Record<string, unknown>[];
  readonly env: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly write: (settings: object | string) => Promise<void>;
  readonly command: (...args: readonly string[]) => Promise<Ended>;
}

/** `uk` has a snapshot; `us` never ran. */
async function twoAccounts(): Promise<World> {
  const { cwd, simulator } = await laptop({ events: makeEvents(3) });
  const told: Record<string, unknown>[] = [];
  const hook = await httpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    told.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end();
  });
  onTestFinished(() => hook[Symbol.asyncDispose]());
  const credentials = { method: "session", ...simulator.credentials };
  const warehouse = join(cwd, "data");
  await writeAccounts(
    cwd,
    { uk: credentials, us: credentials },
    { baseUrl: simulator.url, warehouse: "data" },
  );
  const file = join(cwd, "brand-events.json");
  const settings = JSON.parse(await readFile(file, "utf8"));
  const env = { BRAND_NOTIFY_URL: `${hook.url}/x` };
  const command: World["command"] = (...args) => sync(args, { cwd, env });
  await command("run", "--account", "uk");
  const write: World["write"] = (given) =>
    writeFile(file, typeof given === "string" ? given : JSON.stringify(given));
  return { cwd, file, warehouse, told, env, settings, write, command };
}

/** The newest lines of each account's run log; the settings are right again. */
async function logged({ settings, write, command }: World): Promise<Record<string, unknown>> {
  await write(settings);
  const { accounts } = Object(lastJson(await command("status", "--json")));
  return Object.fromEntries(
    accounts.map(
      ({ account, runs }: { account: string; runs: { outcome: string; error_code: string }[] }) => [
        account,
        runs.map(({ outcome, error_code }) => [outcome, error_code].join(" ").trim()),
      ],
    ),
  );
}

const RAN = { uk: ["PUBLISHED"], us: [] };
const of = (code: string) => ({ uk: [`FAILED ${code}`, "PUBLISHED"], us: [] });

type Spoil = (world: World) => Promise<unknown>;
const spoilWith =
  (more: object): Spoil =>
  ({ settings, write }) =>
    write({ ...settings, ...more });
const ALL = ["run", "--all"];
const UK = ["run", "--account", "uk"];

test.each<{
  what: string;
  spoil?: Spoil;
  args?: readonly string[];
  logs: object;
  account: string | null;
}>([
  {
    what: "credentials that are gone",
    spoil: ({ cwd }) => rm(join(cwd, "credentials/uk.json")),
    args: UK,
    logs: of("CREDENTIALS_INVALID"),
    account: "uk",
  },
  {
    what: "a wrong value",
    spoil: spoilWith({ maxDropPercent: "x" }),
    logs: of("CONFIG_INVALID"),
    account: null,
  },
  { what: "a wrong key", spoil: spoilWith({ maxDrop: 3 }), logs: of("CONFIG_INVALID"), account: null },
  {
    what: "a wrong key, with --account",
    spoil: spoilWith({ maxDrop: 3 }),
    args: UK,
    logs: of("CONFIG_INVALID"),
    account: "uk",
  },
  {
    what: "a key that is there twice",
    spoil: ({ write, settings }) => write(JSON.stringify(settings).replace("{", '{"tags":{},"tags":{},')),
    logs: of("CONFIG_INVALID"),
    account: null,
  },
  {
    what: "a wrong value of an option",
    args: [...UK, "--max-drop", "x"],
    logs: of("CONFIG_INVALID"),
    account: "uk",
  },
  { what: "a file that is no JSON", spoil: ({ write }) => write("{"), logs: RAN, account: null },
  {
    what: "an account that is misspelt",
    args: ["run", "--account", "ukk"],
    logs: RAN,
    account: "ukk",
  },
  {
    what: "a file of another name",
    args: ["run", "--all", "--config", "brand.json"],
    logs: RAN,
    account: null,
  },
])("$what: the log says $logs, and $account is told", async ({ spoil, args = ALL, logs, account }) => {
  const world = await twoAccounts();
  await spoil?.(world);

  const { exitCode } = await world.command(...args);

  expect(exitCode).toBe(2);
  expect(world.told).toMatchObject([{ "detail-type": "Run Failed", detail: { account, run_id: null } }]);
  const text = String(world.told[0]?.["text"]);
  expect(
    text.startsWith(
      `brand-events-sync${account === null ? "" : `, account ${account}`}: a start failed with`,
    ),
  ).toBe(true);
  const [again] = printedCommands(text);
  const config = args.includes("brand.json") ? join(world.cwd, "brand.json") : world.file;
  const ofAccount = account === null ? ["--all"] : ["--account", account];
  expect(again?.slice(0, ofAccount.length + 3)).toEqual(["run", ...ofAccount, "--config", config]);
  expect(again).not.toContain("--warehouse");
  expect(await logged(world)).toEqual(logs);
  expect((await readdir(world.cwd)).sort()).toEqual(
    ["brand-events.json", "credentials", "credentials.json", "data"].sort(),
  );
});

test("a misspelt file that names no warehouse writes nothing into the default one", async () => {
  const world = await twoAccounts();
  const { warehouse: _, ...others } = world.settings;
  await world.write({ ...others, warehouse: "warehouse" });
  await world.command("run", "--account", "uk");
  await world.write({ ...others, warehous: "data" });

  await world.command("run", "--all");

  const log = await readdir(join(world.cwd, "warehouse", "run-log", "uk"));
  expect(log).toHaveLength(1);
  expect(await logged(world)).toEqual(RAN);
});

test("an account that was removed is not made again", async () => {
  const world = await twoAccounts();
  await world.command("remove", "uk", "--yes");
  await rm(join(world.cwd, "credentials/uk.json"));

  await world.command(...UK);

  expect(await logged(world)).toEqual({ uk: [], us: [] });
});

test("a dry run that fails is a person's try: no trouble, and no last outcome", async () => {
  const world = await twoAccounts();
  const file = join(world.cwd, "credentials/uk.json");
  const right = await readFile(file, "utf8");
  await writeFile(file, right.replace(/"password":"[^"]*"/, '"password":"wrong"'));

  const { exitCode } = await world.command(...UK, "--dry-run");
  const { stdout } = await world.command("status");
  const one = await world.command("status", "--account", "uk");

  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^uk .* PUBLISHED$/m);
  expect(stdout).not.toContain("LOGIN_REFUSED");
  expect(one.stdout).toMatch(/ FAILED .* DRY_RUN LOGIN_REFUSED$/m);
});

test("a mistake at a terminal is recorded nowhere, and is no last outcome", async () => {
  const world = await twoAccounts();
  await rm(join(world.cwd, "credentials/uk.json"));

  const { exitCode } = await sync(UK, { ...world, stdin: atTerminal() });
  const oauth = { method: "oauth", client_id: "a", client_secret: "b" };
  await writeFile(join(world.cwd, "credentials/uk.json"), JSON.stringify(oauth), { mode: 0o600 });
  const inTheRun = await sync(UK, { ...world, stdin: atTerminal() });

  expect([exitCode, inTheRun.exitCode]).toEqual([2, 2]);
  expect(inTheRun.stderr).toContain("The method oauth needs the address of the identity provider");
  expect(await logged(world)).toEqual(RAN);
});

test("what is corrected since is still seen, with the command that ends it", async () => {
  const world = await twoAccounts();
  await world.write({ ...world.settings, maxDrop: 3 });
  await world.command("run", "--all");
  await world.write(world.settings);

  const { stdout } = await world.command("status");
  await world.command("report");
  const page = await readFile(join(world.cwd, "report.html"), "utf8");
  const after = await world.command("run", "--account", "uk");
  const then = await world.command("status");

  expect(stdout).toMatch(
    /^uk: FAILED CONFIG_INVALID at .* Then start again: npm run sync -- run --account uk /m,
  );
  expect(stdout.trimEnd().split("\n").at(-1)).toContain("The account uk needs attention");
  expect(page).toContain("The last run failed (CONFIG_INVALID)");
  expect(after.exitCode).toBe(0);
  expect(then.stdout).not.toContain("CONFIG_INVALID");
});
