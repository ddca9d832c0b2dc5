// `--help`: in which group a person finds a command or an option, and what it says of one that commands differ in.

import { expect, test } from "vitest";
import { ACCOUNT_SETTINGS, type Setting } from "../../lambdas/job/settings-file/settings.ts";
import { SHARED_SETTINGS } from "../../lambdas/job/settings-file/settings-schema.ts";
import { sync } from "./command-line.ts";

/** Each heading, and the first words of the lines below it. */
async function groupsOf(...words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const { stdout } = await sync([...words, "--help"], { cwd: "/" });
  const groups = new Map<string, string[]>();
  let names: string[] = [];
  for (const line of stdout.split("\n")) {
    const [, heading] = /^([A-Z][\w ]+):$/.exec(line) ?? [];
    if (heading !== undefined) {
      names = [];
      groups.set(heading, names);
    }
    const [, name] = /^ {2}(?:-\w, )?(\S+)/.exec(line) ?? [];
    if (name !== undefined) names.push(name);
  }
  return groups;
}

test("commands stand in groups", async () => {
  const groups = await groupsOf();

  expect([...groups.keys()]).toEqual(["Options", "Set up", "Every day", "Decide", "Repair"]);
  expect(groups.get("Decide")).toEqual(["diff", "accept", "rollback"]);
  expect(groups.get("Repair")).toEqual(["views", "retire", "remove"]);
});

test("options stand in groups, and those of this start only come last", async () => {
  const groups = await groupsOf("run");
  const settings = Object.values<Setting>({ ...ACCOUNT_SETTINGS, ...SHARED_SETTINGS });
  const flags = new Set(settings.map(({ flag }) => flag?.split(" ")[0]));

  expect([...groups.keys()].slice(0, 7)).toEqual([
    "Account and warehouse",
    "Service",
    "Limits",
    "Guards",
    "Columns",
    "Telling people",
    "This start",
  ]);
  expect(groups.get("This start")).toContain("--fresh");
  expect(groups.get("This start")?.filter((name) => flags.has(name))).toEqual(["--resume-within"]);
});

test.each([
  ["run", "--max-drop", "(BRAND_MAX_DROP, default 20)"],
  ["run", "--limit", "Fetch only this many events; needs --dry-run (BRAND_LIMIT)"],
  ["discover", "--limit", "Read this many events, 500 at most; without it 50 (BRAND_LIMIT)"],
  ["diff", "--format", "table, vertical, csv, tsv, json or ndjson; without it table (BRAND_FORMAT)"],
  ["query", "--format", "ndjson or parquet; without it the ending of --out decides"],
])("%s --help says of %s: %s", async (command, option, says) => {
  const { exitCode, stdout } = await sync([command, "--help"], { cwd: "/" });

  const [, help = ""] = stdout.replaceAll(/\s+/g, " ").split(` ${option} <`);
  expect(exitCode).toBe(0);
  expect(help.split(/ --[\w-]+ </)[0]).toContain(says);
});
