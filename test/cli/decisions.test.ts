// What a person decides about a snapshot: `diff` to judge it, `accept`, `rollback`, `retire`.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { customEvent, makeEvent, makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import {
  against,
  laptop,
  lastJson,
  printedCommand,
  printedCommands,
  sync,
  writeCredentials,
} from "./command-line.ts";

test("a held snapshot is accepted, an older one rolled back to, and each says what readers see now", async () => {
  const { cwd, simulator, command, ask, snapshot } = await laptop();
  const first = await snapshot(12);
  const held = await snapshot(6);
  const requests = simulator.counts.requests;

  const accepted = await command("accept", held, "--json");
  const older = await command("accept", first);
  const rolledBack = await command("rollback", first);
  expect(simulator.counts.requests).toBe(requests);
  simulator.setEvents(makeEvents(12));
  const pinned = await ask("run", "--json");
  simulator.setEvents(makeEvents(3));
  const dropped = await ask("run");
  const unpinned = await sync(["rollback", first, "--no-pin"], { cwd, env: { BRAND_JSON: "true" } });

  expect(accepted.exitCode).toBe(0);
  expect(lastJson(accepted)).toMatchObject({
    trigger: "accept",
    outcome: "PUBLISHED",
    removed: 6,
    requests: null,
  });
  expect(older.exitCode).toBe(4);
  expect(older.stdout).toContain("--force");
  expect(older.stdout).toContain("readers see  6 events");
  expect(rolledBack.exitCode).toBe(0);
  expect(rolledBack.stdout).toMatch(/PUBLISHED {2}rollback .*\n.*12 events.*\n.*6 added/);
  expect(rolledBack.stdout).toContain("pinned       yes");
  expect(pinned.exitCode).toBe(3);
  expect(lastJson(pinned)).toMatchObject({ outcome: "HELD", reason: "PINNED" });
  expect(dropped.stdout).toMatch(
    /^HELD [\s\S]* fewer than [\s\S]*or wait: .* Later runs are held too, until/,
  );
  expect(lastJson(unpinned)).toMatchObject({ trigger: "rollback", outcome: "PUBLISHED", changed: 0 });
  const log = await command(
    "query",
    "--json",
    "SELECT action, pinned FROM publications ORDER BY publication",
  );
  expect(lastJson(log)["rows"]).toEqual([
    ["run", "false"],
    ["accept", "false"],
    ["rollback", "true"],
    ["rollback", "false"],
  ]);
});

test.each(["accept", "rollback"])("%s publishes over a damaged head with --over-damaged", async (action) => {
  const { warehouse, command, snapshot } = await laptop();
  const first = await snapshot(12);
  const head = await snapshot(13);
  await rm(join(warehouse, layout("default").part(head, 0)));
  const decide = (...more: readonly string[]) =>
    command(action, first, "--json", ...(action === "accept" ? ["--force"] : []), ...more);

  const refused = await decide();
  const restarted = await decide("--over-damaged");

  expect([refused, restarted].map(({ exitCode }) => exitCode)).toEqual([1, 0]);
  expect(lastJson(refused)).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });
  expect(lastJson(restarted)).toMatchObject({ outcome: "PUBLISHED", added: 12, removed: 0 });
});

test("an accept and a rollback end with the command that undoes them; the first publication of an account has none", async () => {
  const { command, snapshot } = await laptop();
  const empty = await snapshot(0);
  const first = await command("accept", empty);
  const held = await snapshot(6);
  const decide = async (...args: readonly string[]) => {
    const { stdout } = await command(...args);
    const undo = printedCommands(stdout).at(-1) ?? [];
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^To undo this: npm run sync -- rollback /);
    return undo;
  };
  const seen = async (): Promise<unknown> => {
    const [head] = [lastJson(await command("status", "--json"))["accounts"]].flat();
    const { snapshot_id, pinned } = Object(head).head;
    return [snapshot_id, pinned];
  };

  expect(first.stdout).not.toContain("undo");
  expect(await seen()).toEqual([held, false]);
  const unroll = await decide("rollback", empty);
  expect(unroll.slice(0, 3)).toEqual(["rollback", held, "--no-pin"]);
  const unaccept = await decide("accept", held);
  expect(unaccept.slice(0, 2)).toEqual(["rollback", empty]);
  expect(unaccept).not.toContain("--no-pin");
  await decide(...unaccept);
  expect(await seen()).toEqual([empty, true]);
  await decide(...unroll);
  expect(await seen()).toEqual([held, false]);
  const nothing = await command("accept", held);
  expect(nothing.stdout).not.toContain("undo");
  const json = lastJson(await command("rollback", empty, "--json"));
  expect(json["undo_command"]).toContain(`rollback ${held} --no-pin`);
});

test("retire takes an older snapshot out of event_snapshots, once it is confirmed", async () => {
  const { command, snapshot } = await laptop();
  const [first, second] = [await snapshot(12), await snapshot()];

  const asked = await command("retire", first);
  const retired = await command(...printedCommand(asked.stdout, "retire"));
  const again = await command("retire", first, "--yes", "--json");
  const head = await command("retire", second, "--yes", "--json");
  const absent = await command("retire", "2026-01-01T00-00-00.000Z", "--yes");

  expect([asked, retired, again, head, absent].map(({ exitCode }) => exitCode)).toEqual([2, 0, 0, 2, 2]);
  expect(absent.stderr).toContain("SNAPSHOT_NOT_FOUND");
  expect(asked.stdout).toContain(`That would take the snapshot ${first} out of the tables.`);
  expect(retired.stdout).toContain(`The snapshot ${first} is retired`);
  expect(lastJson(again)).toEqual({ ok: true, explanation: `The snapshot ${first} is retired already.` });
  expect(lastJson(head)).toEqual({ ok: false });
  expect(head.stderr).toContain(`Readers see the snapshot ${second}`);
  const shown = await command("query", "--json", "SELECT DISTINCT snapshot_id FROM event_snapshots");
  expect(lastJson(shown)["rows"]).toEqual([[second]]);
});

test("of several held snapshots status shows the newest in full, and names the others in one line", async () => {
  const { command, snapshot } = await laptop();
  await snapshot(12);
  const held = [await snapshot(6), await snapshot(5), await snapshot(4)] as const;

  const { stdout } = await command("status");

  expect(stdout.match(/^ +held .*$/gm)).toEqual([
    expect.stringContaining(`${held[2]} (DROPPED): `),
    `  held         2 earlier snapshots: ${held[1]} (DROPPED), ${held[0]} (DROPPED)`,
  ]);
  expect(stdout.match(/accept \S+/g)).toEqual([`accept ${held[2]}`]);
});

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
    { format: "csv", first: /^uuid,change,fields,reason\n/ },
    { format: "tsv", first: /^uuid\tchange\tfields\treason\n/ },
    { format: "ndjson", first: /^\{"uuid":"/ },
    { format: "json", first: /^\[\n\{"uuid":"/ },
    { format: "vertical", first: /^─── row 1 / },
  ])("writes rows alone to standard output as $format", async ({ format, first }) => {
    const { stdout, stderr } = await diff("held", "--format", format);

    expect(stdout).toMatch(first);
    expect(stderr).toContain(": 1 added, 0 changed, 6 removed (6 not listed)\n");
  });

  test("prints with --values what changed events held before and after, a row for each field", async () => {
    const before = customEvent("x", '"name":"old","n":1.10,"same":1');
    const after = customEvent("x", '"name":"new","n":1.1,"same":1');
    const { simulator, ask, command } = await laptop({ events: [before] });
    const first = String(lastJson(await ask("run", "--json"))["run_id"]);
    simulator.setEvents([after, customEvent("y", '"name":"z"')]);
    const second = String(lastJson(await ask("run", "--json"))["run_id"]);

    const changed = await command("diff", second, first, "--values", "--format", "csv");
    const json = lastJson(await command("diff", second, first, "--values", "--json"));
    const shown = await command("diff", second, first, "--values");

    expect(changed.stdout.replaceAll(/^[\w-]{36}/gm, "UUID").split("\n")).toEqual([
      "uuid,change,field,before,after,reason",
      "UUID,changed,/n,1.10,1.1,",
      'UUID,changed,/name,"""old""","""new""",',
      expect.stringMatching(/^UUID,added,,,"\{""uuid""/),
      "",
    ]);
    expect(
      shown.stdout
        .replaceAll(/^[\w-]{36}/gm, "UUID")
        .split("\n")
        .slice(1),
    ).toEqual(["UUID  changed", "  /n: 1.10 → 1.1", '  /name: "old" → "new"', "UUID  added", ""]);
    expect(json["rows"]).toMatchObject([
      { change: "changed", values: [{ field: "/n", before: "1.10", after: "1.1" }, { field: "/name" }] },
      { change: "added", fields: null, values: [{ field: null, before: null }] },
    ]);
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
