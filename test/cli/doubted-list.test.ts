// What each command says of a list that nothing calls whole: one line at its end, a key of its JSON, and no other exit code.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeEvents } from "../simulator/simulated-event.ts";
import { laptop, lastJson, printedCommand, sync } from "./command-line.ts";

const UNSAID = "Nothing says that the list is whole: 12 entries came. Compare with the service's own pages.";
const RUN_SAYS = new RegExp(
  `^${UNSAID.replaceAll(".", "\\.")} If that is all, set --next-page all; else \`npm run sync -- check .*\` tries what could fit\\.$`,
);

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

test("run, dry run and discover end with one line of it, and have it as a key", async () => {
  const { ask } = await laptop({ events: makeEvents(12) });

  for (const args of [["run"], ["run", "--dry-run"], ["discover"]]) {
    const shown = await ask(...args);
    const json = await ask(...args, "--json");

    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(lastLine(shown.stderr)).toMatch(RUN_SAYS);
    expect(shown.stderr.match(/list is whole/g)).toHaveLength(1);
    expect(lastLine(json.stderr)).toMatch(RUN_SAYS);
    expect(lastJson(json)["doubt"]).toMatch(RUN_SAYS);
  }
});

test("the command that it names tries what could fit, and says so in its own line", async () => {
  const { ask, cwd } = await laptop({ events: makeEvents(12) });
  const run = await ask("run");

  const check = await sync(printedCommand(run.stderr, "check"), { cwd });

  expect(check.exitCode, check.stderr).toBe(0);
  const said = lastLine(check.stderr);
  expect(said).toContain(
    `${UNSAID} If that is all, set --next-page all; else ask the service's operator how`,
  );
  expect(said).toMatch(/ it is paged \(without other events: page=\{page\}[^)]*\)\.$/);
});

test("check of a list that has other pages names what brought them, and exits with 0", async () => {
  const { ask } = await laptop({ events: makeEvents(25), list: { pageSize: 10, next: "none" } });

  const json = await ask("check", "--json");

  const said =
    "The list is not whole, though nothing says so: 10 entries came. Tried: with page={page} came 10 events that were not there. Set --next-page 'page={page}'.";
  expect([json.exitCode, lastLine(json.stderr), lastJson(json)]).toEqual([
    0,
    said,
    expect.objectContaining({ ok: true, doubt: said }),
  ]);
});

test("status and the report say it of what readers see, until a person has answered", async () => {
  const { ask, command, cwd, simulator } = await laptop({ events: makeEvents(12) });
  await ask("run");
  const settings = { baseUrl: simulator.url, accounts: { default: { credentials: "./credentials.json" } } };
  const file = join(cwd, "brand-events.json");
  await writeFile(file, JSON.stringify(settings));
  const page = () => readFile(join(cwd, "report.html"), "utf8");
  const said = `${UNSAID} If that is all, set "nextPage": "all" of the account default in brand-events.json; else \`npm run sync -- check --account`;

  const shown = await command("status");
  const json = await command("status", "--account", "default", "--json");
  await command("report");
  const report = await page();
  await writeFile(file, JSON.stringify({ ...settings, nextPage: "all" }));
  const answered = await command("status", "--account", "default", "--json");
  await command("report");

  const here = said.replace(" --account", "");
  expect(shown.stdout).toContain(here);
  expect(lastJson(json)["doubt"]).toContain(here);
  expect(report).toContain("The list of events may be a part only</h3>");
  expect(report).toContain("12 entries came.");
  expect(lastJson(answered)["doubt"]).toBeNull();
  expect(await page()).not.toContain("may be a part only");
});

test("a list that a person has called whole has none, and without a terminal nothing is asked", async () => {
  const { ask } = await laptop({ events: makeEvents(12) });

  for (const name of ["run", "check"]) {
    const { stderr, ...json } = await ask(name, "--json", "--next-page", "all");

    expect(stderr).not.toMatch(/whole|Is that all/);
    expect(lastJson({ stderr, ...json })["doubt"]).toBeNull();
  }
});
