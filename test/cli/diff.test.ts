// `diff`, as a person uses it to judge a held snapshot.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeEvent, makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";

/** Twelve events are published; then six of them, and a new one, are held. */
async function heldAccount(cwd: string): Promise<{ cwd: string; head: string; held: string }> {
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  const run = async () =>
    String(lastJson(await sync(["run", "--json", ...against(simulator)], { cwd }))["run_id"]);
  const head = await run();
  simulator.setEvents([...makeEvents(6), makeEvent(13)]);
  return { cwd, head, held: await run() };
}

describe("diff", () => {
  let account: Awaited<ReturnType<typeof heldAccount>>;
  beforeAll(async () => {
    account = await heldAccount(await mkdtemp(join(tmpdir(), "brand-events-")));
  });
  afterAll(() => rm(account.cwd, { recursive: true }));

  const diff = (...args: readonly string[]) => sync(["diff", ...args], { cwd: account.cwd });

  test("prints counts and rows for a person", async () => {
    const { held, head } = account;

    const { stdout, stderr, exitCode } = await diff("held");

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [first, header] = stdout.split("\n");
    expect(first).toBe(`${held} compared with ${head}: 1 added, 0 changed, 6 removed (6 not listed)`);
    expect(header).toMatch(/^uuid +change +fields +reason$/);
    expect(stdout.match(/ removed +NULL +not_listed$/gm)).toHaveLength(6);
    expect(stdout).toMatch(/\(7 rows\)\n$/);
  });

  test("prints the contract's JSON, all counted, with as many rows as asked for", async () => {
    const { held, head } = account;

    const found = lastJson(await diff("held", "--limit", "2", "--json"));

    expect(found).toMatchObject({
      a: held,
      b: head,
      added: 1,
      changed: 0,
      removed: 6,
      reasons: { not_listed: 6 },
    });
    expect(Object.keys(found)).toEqual(["a", "b", "reasons", "added", "changed", "removed", "rows"]);
    expect(found["rows"]).toHaveLength(2);
  });

  test("compares two snapshots the other way round", async () => {
    const { held, head } = account;

    const found = lastJson(await diff(head, held, "--json"));

    expect(found).toMatchObject({ a: head, b: held, added: 6, removed: 1 });
  });

  test.each([
    { format: "csv", first: /^uuid,change,fields,reason\r\n/ },
    { format: "tsv", first: /^uuid\tchange\tfields\treason\r\n/ },
    { format: "ndjson", first: /^\{"uuid":"/ },
    { format: "json", first: /^\[\n\{"uuid":"/ },
    { format: "vertical", first: /^─── row 1 / },
  ])("writes rows alone to standard output as $format", async ({ format, first }) => {
    const { stdout, stderr } = await diff("held", "--format", format);

    expect(stdout).toMatch(first);
    expect(stderr).toContain(": 1 added, 0 changed, 6 removed (6 not listed)\n");
  });

  test("compares with what readers saw, where nothing was published then", async () => {
    const { stdout, exitCode } = await diff("--since", "2020-01-01", "--limit", "1");

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      `${account.head} compared with nothing, because nothing was published by 2020-01-01: 12 added, `,
    );
  });

  test("says how many of the changes it shows", async () => {
    const { stdout } = await diff("held", "--limit", "3");

    expect(stdout).toContain("1 added, 0 changed, 6 removed (6 not listed); the first 3 by uuid\n");
  });

  test.each([
    { args: ["held", "--format", "parquet"], says: "diff prints text, and Parquet is not text" },
    { args: ["held", "--json", "--format", "csv"], says: "two forms of the result" },
    { args: ["held", "--limit", "100001"], says: "--limit: expected a whole number from 1 to 100000" },
    { args: ["2020-01-01T00-00-00.000Z"], says: "SNAPSHOT_NOT_FOUND" },
    { args: ["held", "held", "held"], says: "too many arguments" },
    { args: [], says: "Give one of the two" },
    { args: ["held", "--since", "2026-01-01"], says: "Give one of the two" },
  ])("$args exits with 2: $says", async ({ args, says }) => {
    const { exitCode, stderr } = await diff(...args);

    expect(exitCode).toBe(2);
    expect(stderr).toContain(says);
  });
});
