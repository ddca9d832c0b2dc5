// The examples of the help, and the demonstration with its next steps, once what stands for one's own is filled in.

import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { printedCommands, start } from "../command-line.ts";
import { type PrintedWorld, printedWorld } from "./printed-world.ts";

const ROOT = join(import.meta.dirname, "../../..");
const DEMO = join(ROOT, "bin/demo.ts");
const HERE = ["--account", "uk"];
const UNLIMITED = { BRAND_REQUESTS_PER_MINUTE: "unlimited", BRAND_BYTES_PER_MINUTE: "unlimited" };

/** A warehouse at the usual place, with two published snapshots and a held one. */
async function usualPlace(world: PrintedWorld): Promise<Readonly<Record<string, string>>> {
  const run = async (): Promise<string> => {
    const { stdout } = await world.command(["run", ...HERE, ...world.of, "--json"]);
    return String(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "").snapshot_id);
  };
  const published = await run();
  await run();
  world.halve();
  return { "2026-11-20T06-00-00.000Z": published, "2026-11-21T06-00-00.000Z": await run() };
}

async function examplesOfHelp(world: PrintedWorld): Promise<readonly (readonly string[])[]> {
  const { stdout } = await world.command(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = ""]) => name);
  const examples: (readonly string[])[] = [];
  for (const name of names.filter((one) => one !== "help")) {
    const help = await world.command([name, "--help"]);
    const [example = []] = printedCommands(help.stdout.split("Example:\n")[1] ?? "");
    expect(example[0], help.stdout).toBe(name);
    examples.push(example);
  }
  return examples;
}

test("the example of every command works", async () => {
  await using world = await printedWorld();
  const ids = await usualPlace(world);
  const own = {
    ...ids,
    "https://service.example": world.service.url,
    "https://login.example": world.provider.url,
  };
  await mkdir(join(world.cwd, "credentials"));
  await writeFile(join(world.cwd, "credentials", "uk.json"), JSON.stringify(world.provider.credentials), {
    mode: 0o600,
  });
  const examples = (await examplesOfHelp(world)).toSorted((a, b) => order(a) - order(b));
  expect(examples.length).toBeGreaterThan(8);

  for (const example of examples) {
    const args = example.map((word) => Object.entries(own).find(([from]) => from === word)?.[1] ?? word);
    const env = { ...UNLIMITED, BRAND_ACCOUNT: "uk", ...(example[0] === "init" ? initial(world) : {}) };
    const ended = await world.command(args, { env });
    expect(ended.exitCode, `${args.join(" ")}\n${ended.stderr}`).toBe(0);
  }
});

/** What `init` is not asked where there is no terminal; the account is new. */
const initial = ({ service }: PrintedWorld): Readonly<Record<string, string>> => ({
  BRAND_ACCOUNT: "new",
  BRAND_BASE_URL: service.url,
  BRAND_EMAIL: service.credentials.email,
  BRAND_PASSWORD: service.credentials.password,
});

/** A held snapshot can be looked at until it is accepted, and accepted until the next run; a run after a rollback is held. */
function order([name = ""]: readonly string[]): number {
  const at = ORDER.indexOf(name);
  return at === -1 ? ORDER.indexOf("others") : at;
}

const ORDER = ["diff", "accept", "run", "others", "rollback", "retire", "remove", "init"];

test("the demonstration makes a warehouse, and prints what the README shows of it", async () => {
  const cwd = await temporaryDirectory();

  const { exitCode, stdout, stderr } = await start(DEMO, [], { cwd }).ended;

  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, block = ""] = /^```\n(\$ npm run sync -- run [^`]*)^```$/m.exec(readme) ?? [];
  // The time and how long it took are others, and the dots stand for what is left out.
  const shown = block.split("\n").filter((line) => line !== "…" && !/\d{4}-\d\d-\d\dT/.test(line));
  expect(exitCode).toBe(0);
  expect(shown.length).toBeGreaterThan(8);
  for (const line of shown) expect(stdout + stderr).toContain(line);
  for (const file of ["demo-report.html", "demo-warehouse/columns.json"])
    expect(existsSync(join(cwd, file)), file).toBe(true);
});

test("the next steps of the demonstration work", async () => {
  await using world = await printedWorld();
  world.service.setEvents(makeEvents(3));
  const demo = readFileSync(DEMO, "utf8");
  const lines = [...demo.matchAll(/^ {2}\d\. .*\$\{PROGRAM_NAME\} (.*?)(?:`\);)?$/gm)];
  const steps = lines.flatMap(([, line = ""]) => printedCommands(`npm run sync -- ${line}`));
  const { BRAND_ACCOUNT: _, ...answers } = initial(world);

  expect(steps.map(([name]) => name)).toEqual(["init", "discover", "check", "run", "query"]);
  for (const step of steps) {
    const ended = await world.command(step, { env: step[0] === "init" ? answers : UNLIMITED });
    expect(ended.exitCode, ended.stderr).toBe(0);
  }
});
