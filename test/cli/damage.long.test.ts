// Damaged and missing files of a warehouse, as a person meets them: what each command says, what `query` and `views.sql` still
// show, and how the data come back.

import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { type Ended, type Laptop, laptop, lastJson } from "./command-line.ts";
import { readRows } from "./warehouse.ts";

const EVENTS = "SELECT account, count(*) FROM events GROUP BY 1 ORDER BY 1";
const COUNTS = "SELECT snapshot_id, count(*) FROM event_snapshots GROUP BY 1 ORDER BY 1";

/** Flips a bit; returns how the file comes back. */
async function damage(file: string, at: (bytes: Buffer) => number): Promise<() => Promise<void>> {
  const bytes = await readFile(file);
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(bytes.readUInt8(at(bytes)) ^ 1, at(bytes));
  await writeFile(file, flipped);
  return () => writeFile(file, bytes);
}

/** What every parser refuses. */
const damageBegin = (file: string): Promise<() => Promise<void>> => damage(file, () => 0);

async function lose(file: string): Promise<() => Promise<void>> {
  await rename(file, `${file}.backup`);
  return () => rename(`${file}.backup`, file);
}

const headOf = async ({ warehouse }: Laptop): Promise<string> =>
  (await readFile(join(warehouse, "views.sql"), "utf8")).split("CREATE")[0] ?? "";

describe("the publication log of one account, which ends no command of another one", () => {
  /** uk and fr with two publications each. */
  async function twoAccounts() {
    const world = await laptop();
    for (const events of [3, 4]) await world.snapshot(events, "--account", "uk");
    const first = await world.snapshot(2, "--account", "fr");
    await world.snapshot(3, "--account", "fr");
    const run = (account: string): Promise<Ended> => world.ask("run", "--json", "--account", account);
    return { ...world, first, run };
  }

  test("is named, and its tables stay as they were", async () => {
    const { warehouse, command, ask, run, first } = await twoAccounts();
    const key = "publications/uk/0000000002.ndjson";
    const repair = await damageBegin(join(warehouse, key));
    const named = expect.stringMatching(
      new RegExp(
        `^warning: the account uk cannot be read, and its tables show nothing new: The publication ${key} is damaged: .*Restore`,
        "m",
      ),
    );

    const asked = await command("query", "--json", EVENTS);
    const others = [
      await run("fr"),
      await ask("check", "--account", "fr", "--json"),
      await command("status", "--account", "fr"),
      await command("rollback", first, "--account", "fr", "--json"),
    ];
    const own = await run("uk");

    // A run and a decision of another account look at their own one.
    for (const ended of others) expect(ended.exitCode).toBe(0);
    for (const ended of [asked, await command("views")])
      expect(ended).toMatchObject({ exitCode: 0, stderr: named });
    expect(lastJson(asked)["rows"]).toEqual([
      ["fr", "3"],
      ["uk", "4"],
    ]);
    expect(await readRows(warehouse, EVENTS)).toEqual([
      ["fr", "2"],
      ["uk", "4"],
    ]);
    expect(await readFile(join(warehouse, "views.sql"), "utf8")).toContain(
      `\n-- NOT READ: the account uk; its tables stay as they were. The publication ${key} is damaged`,
    );
    expect(lastJson(own)).toMatchObject({ outcome: "FAILED", error_code: "STORE_CORRUPT" });

    await rm(join(warehouse, "snapshots/uk"), { recursive: true });
    await command("views");
    expect(await readRows(warehouse, EVENTS)).toEqual([["fr", "2"]]);
    const removed = await command("remove", "fr", "--yes");
    expect(removed).toMatchObject({ exitCode: 0, stderr: named });
    await repair();
    expect((await command("query", EVENTS)).stderr).not.toContain("warning");
  });

  test("takes the account out of a query where views.sql does not list it, and the query exits with 1", async () => {
    const { warehouse, command } = await twoAccounts();
    await rm(join(warehouse, "views.sql"));
    await damageBegin(join(warehouse, "publications/uk/0000000002.ndjson"));

    const asked = await command("query", "--json", EVENTS);
    const [runLog = ""] = await readdir(join(warehouse, "run-log/uk"));
    await damageBegin(join(warehouse, "run-log/uk", runLog));
    const others = await command("query", "--json", "SELECT count(run_id), count(*) FROM sync_runs");
    const log = await command(
      "query",
      "--json",
      "SELECT account, max(publication) FROM publications GROUP BY 1",
    );

    expect(asked.exitCode).toBe(1);
    expect(asked.stderr).toContain("left out: The publication publications/uk/0000000002.ndjson is damaged");
    expect(lastJson(asked)).toMatchObject({ rows: [["fr", "3"]], missing: [{ account: "uk" }] });
    expect(lastJson(others)).toMatchObject({ rows: [["3", "4"]] });
    expect(log.exitCode).toBe(1);
    expect(lastJson(log)).toMatchObject({ rows: [["fr", "0000000002"]], missing: [{ account: "uk" }] });
  });
});

describe("a file of a snapshot", () => {
  /** Three snapshots of 3, 4 and 5 events. */
  async function threeSnapshots() {
    const world = await laptop();
    const ids = [await world.snapshot(3), await world.snapshot(4), await world.snapshot(5)] as const;
    const query = (sql: string, ...options: readonly string[]): Promise<Ended> =>
      world.command("query", "--json", ...options, sql);
    return { ...world, ids, query, part: (id: string) => layout("default").part(id, 0) };
  }

  test("that was cut fails with its name; a flipped bit is what check finds", async () => {
    const world = await threeSnapshots();
    const { warehouse, ids, query, ask } = world;
    const part = world.part(ids[2]);
    const bytes = await readFile(join(warehouse, part));

    await writeFile(join(warehouse, part), bytes.subarray(0, bytes.length / 2));
    const cut = await query("SELECT sum(length(event)) FROM events");
    await writeFile(join(warehouse, part), bytes);
    const repair = await damage(join(warehouse, part), ({ length }) => Math.floor(length / 2));
    const checked = await ask("check");
    await repair();

    expect(cut.exitCode).toBe(1);
    expect(cut.stderr).toContain(part);
    expect(checked.exitCode).toBe(1);
    expect(checked.stdout + checked.stderr).toContain(`The file ${part} is damaged`);
    expect(await query("SELECT count(*) FROM events")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("that is missing takes away an old snapshot, until it is there again", async () => {
    const world = await threeSnapshots();
    const { warehouse, ids, query, ask, snapshot } = world;
    const part = world.part(ids[0]);
    const restore = await lose(join(warehouse, part));
    const left = [
      [ids[1], "4"],
      [ids[2], "5"],
    ];

    const asked = await query(COUNTS);
    expect(asked.exitCode).toBe(0);
    expect(asked.stderr).toMatch(
      new RegExp(
        `^left out: the snapshot ${ids[0]} of the account default\\. The file ${part} is damaged: it is missing\\. Restore it from a backup.* retire ${ids[0]} --yes --account default --warehouse \\S+\\n$`,
      ),
    );
    expect(lastJson(asked)).toMatchObject({
      rows: left,
      missing: [{ account: "default", holds: "snapshot", snapshot_id: ids[0], is_head: false }],
    });
    for (const table of ["events", "event_changes", "publications", "sync_runs", "event_history"])
      expect(await query(`FROM ${table}`), table).toMatchObject({ exitCode: 0, stderr: "" });

    await ask("check");
    expect(await headOf(world)).toContain(
      `-- LEFT OUT: the snapshot ${ids[0]} of the account default. The file ${part}`,
    );
    expect(await readRows(warehouse, COUNTS)).toEqual(left);

    await restore();
    await ask("check");
    await snapshot();
    expect(await headOf(world)).not.toContain("LEFT OUT");
    expect(await readRows(warehouse, COUNTS)).toHaveLength(4);
    expect((await query(COUNTS)).exitCode).toBe(0);
  });

  test("that is missing takes away the head, and the query exits with 1, until one publishes over it", async () => {
    const world = await threeSnapshots();
    const { warehouse, ids, query, snapshot } = world;
    await rm(join(warehouse, world.part(ids[2])));

    const asked = await query("SELECT count(*) FROM events");
    const file = join(world.cwd, "x.csv");
    const written = await query(COUNTS, "--out", file);
    const others = await query("SELECT count(*) FROM publications JOIN event_changes USING (publication)");
    const over = await snapshot(5, "--over-damaged");

    expect(asked.exitCode).toBe(1);
    expect(asked.stderr).toContain("--over-damaged");
    expect(lastJson(asked)).toMatchObject({ rows: [["0"]], missing: [{ is_head: true }] });
    expect(written.exitCode).toBe(1);
    expect(await readFile(file, "utf8")).toContain(ids[1]);
    expect(others).toMatchObject({ exitCode: 0, stderr: "" });
    expect(lastJson(await query("SELECT count(*) FROM events"))).toMatchObject({ rows: [["5"]] });
    expect(await readRows(warehouse, COUNTS)).toEqual([
      [ids[0], "3"],
      [ids[1], "4"],
      [over, "5"],
    ]);
    expect(await headOf(world)).toContain(`-- LEFT OUT: the snapshot ${ids[2]} `);
  });

  test("of changes takes away the changes of their publication", async () => {
    const { warehouse, ids, query } = await threeSnapshots();
    const folder = `changes/default/0000000002/${ids[1]}`;
    await rm(join(warehouse, folder), { recursive: true });

    const asked = await query("SELECT publication, count(*) FROM event_changes GROUP BY 1 ORDER BY 1");
    const history = await query("FROM event_history");

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
  });

  test("of changes takes them away also where it is their last, for query, views.sql and check", async () => {
    const world = await laptop();
    const { warehouse, ask, command } = world;
    const id = await world.snapshot(1_001);
    const lost = layout("default").changesPart("0000000001", id, 1);
    await rm(join(warehouse, lost));

    const asked = await command("query", "--json", "SELECT count(*) FROM event_changes");
    const checked = await ask("check");

    expect(asked.stderr).toContain(
      `left out: the changes of publication 0000000001 of the account default. The file ${lost} is damaged: it is missing.`,
    );
    expect(lastJson(asked)).toMatchObject({ rows: [["0"]], missing: [{ holds: "changes" }] });
    expect(checked.exitCode).toBe(1);
    expect(checked.stdout + checked.stderr).toContain(`The file ${lost} is damaged: it is missing.`);
    expect(await headOf(world)).toContain(
      "-- LEFT OUT: the changes of publication 0000000001 of the account default.",
    );
  });

  test("that is lost in a warehouse of the version before takes its snapshot away as well, and it heals", async () => {
    const { warehouse, ids, ask, query, snapshot } = await threeSnapshots();
    // As that version wrote it: without comments on what accounts have.
    const views = await readFile(join(warehouse, "views.sql"), "utf8");
    await writeFile(join(warehouse, "views.sql"), views.split("-- What each account has")[0] ?? "");
    const restore = await lose(join(warehouse, layout("default").manifest(ids[1])));

    expect(lastJson(await query(COUNTS))).toMatchObject({
      rows: [
        [ids[0], "3"],
        [ids[2], "5"],
      ],
    });
    await snapshot();
    expect(await readRows(warehouse, COUNTS)).toHaveLength(3);
    await restore();
    await ask("check");
    await snapshot();

    expect(await readRows(warehouse, COUNTS)).toHaveLength(5);
    expect((await query(COUNTS)).exitCode).toBe(0);
    expect(await readdir(join(warehouse, "publications/default"))).toHaveLength(5);
  });
});
