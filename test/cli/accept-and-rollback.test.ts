import { expect, test } from "vitest";
import { makeEvents } from "../simulator/simulated-event.ts";
import { laptop, lastJson, printedCommand, sync } from "./command-line.ts";

test("a held snapshot is accepted, an older one rolled back to, and each says what readers see now", async () => {
  await using world = await laptop();
  const { cwd, simulator, command, ask, snapshot } = world;
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

test("retire takes an older snapshot out of event_snapshots, once it is confirmed", async () => {
  await using world = await laptop();
  const { command, snapshot } = world;
  const [first, second] = [await snapshot(12), await snapshot()];

  const asked = await command("retire", first);
  const retired = await command(...printedCommand(asked.stdout, "retire"));
  const again = await command("retire", first, "--yes", "--json");
  const head = await command("retire", second, "--yes", "--json");
  const absent = await command("retire", "2026-01-01T00-00-00.000Z", "--yes");

  expect([asked, retired, again, head, absent].map(({ exitCode }) => exitCode)).toEqual([2, 0, 0, 2, 2]);
  expect(absent.stderr).toContain("SNAPSHOT_NOT_FOUND");
  expect(asked.stdout).toContain(`retire would take the snapshot ${first} out of the tables.`);
  expect(retired.stdout).toContain(`The snapshot ${first} is retired`);
  expect(lastJson(again)).toEqual({ ok: true, explanation: `The snapshot ${first} is retired already.` });
  expect(lastJson(head)).toEqual({ ok: false });
  expect(head.stderr).toContain(`Readers see the snapshot ${second}`);
  const shown = await command("query", "--json", "SELECT DISTINCT snapshot_id FROM event_snapshots");
  expect(lastJson(shown)["rows"]).toEqual([[second]]);
});

test("of several held snapshots status shows the newest in full, and names the others in one line", async () => {
  await using world = await laptop();
  const { command, snapshot } = world;
  await snapshot(12);
  const held = [await snapshot(6), await snapshot(5), await snapshot(4)] as const;

  const { stdout } = await command("status");

  expect(stdout.match(/^ +held .*$/gm)).toEqual([
    expect.stringContaining(`${held[2]} (DROPPED): `),
    `  held         2 earlier snapshots: ${held[1]} (DROPPED), ${held[0]} (DROPPED)`,
  ]);
  expect(stdout.match(/accept \S+/g)).toEqual([`accept ${held[2]}`]);
});
