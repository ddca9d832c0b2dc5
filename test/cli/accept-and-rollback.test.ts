import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, printedCommand, sync, writeCredentials } from "./command-line.ts";

test("a held snapshot is accepted, an older one rolled back to, and each says what readers see now", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  const run = ["run", "--json", ...against(simulator)];
  const first = String(lastJson(await sync(run, { cwd }))["snapshot_id"]);
  simulator.setEvents(makeEvents(6));
  const held = String(lastJson(await sync(run, { cwd }))["snapshot_id"]);
  const requests = simulator.counts.requests;

  const accepted = await sync(["accept", held, "--json"], { cwd });
  const older = await sync(["accept", first], { cwd });
  const rolledBack = await sync(["rollback", first], { cwd });
  simulator.setEvents(makeEvents(12));
  const pinned = await sync(run, { cwd });
  simulator.setEvents(makeEvents(3));
  const dropped = await sync(["run", ...against(simulator)], { cwd });
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
  const log = await sync(
    ["query", "--json", "SELECT action, pinned FROM publications ORDER BY publication"],
    { cwd },
  );
  expect(lastJson(log)["rows"]).toEqual([
    ["run", "false"],
    ["accept", "false"],
    ["rollback", "true"],
    ["rollback", "false"],
  ]);
  expect(simulator.counts.requests - requests).toBe(19);
});

test("retire takes an older snapshot out of event_snapshots, once it is confirmed", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  const run = ["run", "--json", ...against(simulator)];
  const [first, second] = [
    String(lastJson(await sync(run, { cwd }))["snapshot_id"]),
    String(lastJson(await sync(run, { cwd }))["snapshot_id"]),
  ];

  const asked = await sync(["retire", first], { cwd });
  const retired = await sync(printedCommand(asked.stdout, "retire"), { cwd });
  const again = await sync(["retire", first, "--yes", "--json"], { cwd });
  const head = await sync(["retire", second, "--yes", "--json"], { cwd });
  const absent = await sync(["retire", "2026-01-01T00-00-00.000Z", "--yes"], { cwd });

  expect([asked, retired, again, head, absent].map(({ exitCode }) => exitCode)).toEqual([2, 0, 0, 2, 2]);
  expect(absent.stderr).toContain("SNAPSHOT_NOT_FOUND");
  expect(asked.stdout).toContain(`retire would take the snapshot ${first} out of the tables.`);
  expect(retired.stdout).toContain(`The snapshot ${first} is retired`);
  expect(lastJson(again)).toEqual({ ok: true, explanation: `The snapshot ${first} is retired already.` });
  expect(lastJson(head)).toEqual({ ok: false });
  expect(head.stderr).toContain(`Readers see the snapshot ${second}`);
  const shown = await sync(["query", "--json", "SELECT DISTINCT snapshot_id FROM event_snapshots"], { cwd });
  expect(lastJson(shown)["rows"]).toEqual([[second]]);
});

test.each(["accept", "rollback"])(
  "%s of an id that does not exist exits with 2 and says where ids are",
  async (command) => {
    const cwd = await temporaryDirectory();
    await using simulator = await Simulator.start({ events: makeEvents(1) });
    await writeCredentials(cwd, simulator);
    await sync(["run", ...against(simulator)], { cwd });

    const ended = await sync([command, "2026-01-01T00-00-00.000Z", "--json"], { cwd });

    expect(ended.exitCode).toBe(2);
    expect(lastJson(ended)).toMatchObject({ outcome: "FAILED", error_code: "SNAPSHOT_NOT_FOUND" });
    expect(ended.stderr).toContain("Look at status");
  },
);

test.each([
  ["accept", "2026-01-01T00-00-00.000Z"],
  ["rollback", "2026-01-01T00-00-00.000Z"],
  ["remove", "uk", "--yes"],
])("%s makes no warehouse, and says where there is none", async (...args) => {
  const cwd = await temporaryDirectory();

  const ended = await sync(args, { cwd });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(`There is no warehouse at ${join(cwd, "warehouse")}. Check --warehouse`);
  expect(await readdir(cwd)).toEqual([]);
});

test("the command that a held run and status print publishes the snapshot as it is", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  const place = ["--account", "uk", "--warehouse", "our team's data"];
  await sync(["run", ...place, ...against(simulator)], { cwd });
  simulator.setEvents(makeEvents(6));

  const held = await sync(["run", ...place, ...against(simulator)], { cwd });
  const status = await sync(["status", ...place], { cwd });
  const [fromRun = [], fromStatus] = [held, status].map(({ stdout }) => printedCommand(stdout, "accept"));
  const accepted = await sync(fromRun, { cwd });

  expect(held.exitCode).toBe(3);
  expect(fromStatus).toEqual(fromRun);
  expect(accepted.stdout).toContain("PUBLISHED");
  expect(accepted.stdout).toContain("readers see  6 events");
});

test("of several held snapshots status shows the newest in full, and names the others in one line", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  const run = async (events: number): Promise<string> => {
    simulator.setEvents(makeEvents(events));
    return String(lastJson(await sync(["run", "--json", ...against(simulator)], { cwd }))["snapshot_id"]);
  };
  await run(12);
  const held = [await run(6), await run(5), await run(4)] as const;

  const { stdout } = await sync(["status"], { cwd });
  const unclear = await sync(["accept", "held"], { cwd });

  expect(unclear.exitCode).toBe(2);
  expect(unclear.stderr).toContain(held.toReversed().join(", "));
  expect(stdout.match(/^ +held .*$/gm)).toEqual([
    expect.stringContaining(`${held[2]} (DROPPED): `),
    `  held         2 earlier snapshots: ${held[1]} (DROPPED), ${held[0]} (DROPPED)`,
  ]);
  expect(stdout.match(/accept \S+/g)).toEqual([`accept ${held[2]}`]);
});
