// What a damaged or missing file takes away from `query` and `views.sql`, and how it comes back; as a person uses them.

import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, type Ended, lastJson, sync, writeCredentials } from "./command-line.ts";
import { readRows } from "./warehouse-reader.ts";

interface World {
  readonly warehouse: string;
  readonly ids: readonly string[];
  readonly command: (...args: readonly string[]) => Promise<Ended>;
  readonly query: (sql: string, ...options: readonly string[]) => Promise<Ended>;
  readonly run: (...options: readonly string[]) => Promise<string>;
}

/** Three snapshots of 3, 4 and 5 events. */
async function threeSnapshots(simulator: Simulator): Promise<World> {
  const cwd = await temporaryDirectory();
  await writeCredentials(cwd, simulator);
  const command = (...args: readonly string[]): Promise<Ended> => sync(args, { cwd });
  const run = async (...options: readonly string[]): Promise<string> =>
    String(lastJson(await command("run", "--json", ...options, ...against(simulator)))["snapshot_id"]);
  const ids: string[] = [];
  for (const events of [3, 4, 5]) {
    simulator.setEvents(makeEvents(events));
    ids.push(await run());
  }
  const query: World["query"] = (sql, ...options) => command("query", "--json", ...options, sql);
  return { warehouse: join(cwd, "warehouse"), ids, command, query, run };
}

async function flip(file: string, bytes: Buffer): Promise<() => Promise<void>> {
  const flipped = Buffer.from(bytes);
  const middle = Math.floor(bytes.length / 2);
  flipped.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  await writeFile(file, flipped);
  return () => writeFile(file, bytes);
}

async function lose(file: string): Promise<() => Promise<void>> {
  await rename(file, `${file}.backup`);
  return () => rename(`${file}.backup`, file);
}

const COUNTS = "SELECT snapshot_id, count(*) FROM event_snapshots GROUP BY 1 ORDER BY 1";

const headOf = async (warehouse: string): Promise<string> =>
  (await readFile(join(warehouse, "views.sql"), "utf8")).split("CREATE")[0] ?? "";

test("a part that was cut fails with its name; a flipped bit is what check finds", async () => {
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  const { warehouse, ids, command, query } = await threeSnapshots(simulator);
  const part = `snapshots/default/${ids[2]}/part-00000.ndjson.gz`;
  const bytes = await readFile(join(warehouse, part));

  await writeFile(join(warehouse, part), bytes.subarray(0, bytes.length / 2));
  const cut = await query("SELECT sum(length(event)) FROM events");
  const repair = await flip(join(warehouse, part), bytes);
  const checked = await command("check", ...against(simulator));
  await repair();

  expect(cut.exitCode).toBe(1);
  expect(cut.stderr).toContain(part);
  expect(checked.exitCode).toBe(1);
  expect(checked.stdout + checked.stderr).toContain(`The file ${part} is damaged`);
  expect(await query("SELECT count(*) FROM events")).toMatchObject({ exitCode: 0, stderr: "" });
});

describe("without a file", () => {
  test("a part of an old snapshot takes away that snapshot, until it is there again", async () => {
    await using simulator = await Simulator.start({ events: makeEvents(3) });
    const { warehouse, ids, command, query, run } = await threeSnapshots(simulator);
    const part = `snapshots/default/${ids[0]}/part-00000.ndjson.gz`;
    const restore = await lose(join(warehouse, part));

    const asked = await query(COUNTS);
    expect(asked.exitCode).toBe(0);
    expect(asked.stderr).toMatch(
      new RegExp(
        `^left out: the snapshot ${ids[0]} of the account default\\. The file ${part} is damaged: it is missing\\. Restore it from a backup.* retire ${ids[0]} --yes --account default --warehouse \\S+\\n$`,
      ),
    );
    expect(lastJson(asked)).toMatchObject({
      rows: [
        [ids[1], "4"],
        [ids[2], "5"],
      ],
      missing: [{ account: "default", holds: "snapshot", snapshot_id: ids[0], is_head: false }],
    });
    for (const sql of [
      "FROM events",
      "FROM event_changes",
      "FROM publications",
      "FROM sync_runs",
      "FROM event_history",
    ]) {
      expect(await query(sql), sql).toMatchObject({ exitCode: 0, stderr: "" });
    }

    await command("check", ...against(simulator));
    expect(await headOf(warehouse)).toContain(
      `-- LEFT OUT: the snapshot ${ids[0]} of the account default. The file ${part}`,
    );
    expect(await readRows(warehouse, COUNTS)).toEqual([
      [ids[1], "4"],
      [ids[2], "5"],
    ]);

    await restore();
    await run();
    expect(await headOf(warehouse)).not.toContain("LEFT OUT");
    expect(await readRows(warehouse, COUNTS)).toHaveLength(4);
    expect(lastJson(await query(COUNTS))).toMatchObject({
      rows: [["3"], ["4"], ["5"], ["5"]].map(([n], i) => [ids[i] ?? expect.any(String), n]),
    });
  });

  test("a part of the head takes it away, and the query exits with 1", async () => {
    await using simulator = await Simulator.start({ events: makeEvents(3) });
    const { warehouse, ids, query } = await threeSnapshots(simulator);
    await rm(join(warehouse, `snapshots/default/${ids[2]}/part-00000.ndjson.gz`));

    const asked = await query("SELECT count(*) FROM events");
    const file = join(warehouse, "..", "x.csv");
    const written = await query(COUNTS, "--out", file);
    const others = await query("SELECT count(*) FROM publications JOIN event_changes USING (publication)");

    expect(asked.exitCode).toBe(1);
    expect(asked.stderr).toContain("--over-damaged");
    expect(lastJson(asked)).toMatchObject({ rows: [["0"]], missing: [{ is_head: true }] });
    expect(written.exitCode).toBe(1);
    expect(await readFile(file, "utf8")).toContain(`${ids[1]}`);
    expect(others).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("the only part of a head that was published over takes away that snapshot", async () => {
    await using simulator = await Simulator.start({ events: makeEvents(3) });
    const { warehouse, ids, query, run } = await threeSnapshots(simulator);
    await rm(join(warehouse, `snapshots/default/${ids[2]}/part-00000.ndjson.gz`));

    const over = await run("--over-damaged");

    expect(lastJson(await query("SELECT count(*) FROM events"))).toMatchObject({ rows: [["5"]] });
    expect(await readRows(warehouse, COUNTS)).toEqual([
      [ids[0], "3"],
      [ids[1], "4"],
      [over, "5"],
    ]);
    expect(await headOf(warehouse)).toContain(`-- LEFT OUT: the snapshot ${ids[2]} `);
  });

  test("changes take away the changes of their publication", async () => {
    await using simulator = await Simulator.start({ events: makeEvents(3) });
    const { warehouse, ids, command, query } = await threeSnapshots(simulator);
    const folder = `changes/default/0000000002/${ids[1]}`;
    await rm(join(warehouse, folder), { recursive: true });
    const sql = "SELECT publication, count(*) FROM event_changes GROUP BY 1 ORDER BY 1";

    const asked = await query(sql);
    const history = await query("FROM event_history");
    await command("check", ...against(simulator));

    expect(asked.exitCode).toBe(0);
    expect(asked.stderr).toContain(
      `left out: the changes of publication 0000000002 of the account default. The file ${folder}/part-00000.ndjson.gz is damaged: it is missing.`,
    );
    expect(asked.stderr).toContain("--over-damaged");
    expect(history.stderr).toBe(asked.stderr);
    expect(lastJson(asked)).toMatchObject({
      rows: [
        ["0000000001", "3"],
        ["0000000003", "1"],
      ],
    });
    expect((await query(COUNTS)).exitCode).toBe(0);
    expect(await readRows(warehouse, sql)).toEqual([
      ["0000000001", "3"],
      ["0000000003", "1"],
    ]);
    expect(await headOf(warehouse)).toContain("-- LEFT OUT: the changes of publication 0000000002 of ");
  });

  test("a warehouse of the version before, which has lost files, is read and healed", async () => {
    await using simulator = await Simulator.start({ events: makeEvents(3) });
    const { warehouse, ids, query, run } = await threeSnapshots(simulator);
    // As that version wrote it: without comments on what accounts have.
    const views = await readFile(join(warehouse, "views.sql"), "utf8");
    await writeFile(join(warehouse, "views.sql"), views.split("-- What each account has")[0] ?? "");
    const restore = await lose(join(warehouse, `snapshots/default/${ids[1]}/_manifest.json`));

    expect(lastJson(await query(COUNTS))).toMatchObject({
      rows: [
        [ids[0], "3"],
        [ids[2], "5"],
      ],
    });
    await run();
    expect(await readRows(warehouse, COUNTS)).toHaveLength(3);
    await restore();
    await run();

    expect(await readRows(warehouse, COUNTS)).toHaveLength(5);
    expect((await query(COUNTS)).exitCode).toBe(0);
    expect(await readdir(join(warehouse, "publications/default"))).toHaveLength(5);
  });
});
