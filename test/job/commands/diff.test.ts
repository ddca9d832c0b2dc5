import { describe, expect, test } from "vitest";
import { type DiffTask, diff, sinceTask } from "../../../lambdas/job/commands/diff.ts";
import { readLeftOut } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { type ExplainedChange, FirstChanges } from "../../../lambdas/job/snapshot/rows/first-changes.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { readLog } from "../../../lambdas/job/storage/publication-log.ts";
import { markRetired } from "../../../lambdas/job/storage/snapshot-marks.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { told, toldBy } from "../../words/said.ts";
import { ACCOUNT, heldWorld, type PortChanges, SmallWorld } from "../run/small-world.ts";

async function compare(world: SmallWorld, task: DiffTask, changes: PortChanges = {}) {
  const first = new FirstChanges(1_000);
  const compared = await diff(world.ports(changes), task, (change) => first.add(change));
  return { ...compared, ...first.counts, rows: first.rows };
}

/** Of ten events six are listed, and one of them is gone; the snapshot without them is held. */
async function withGone() {
  const world = new SmallWorld();
  await world.publish(10);
  world.show(6, 2);
  world.gone.add(1);
  return { world, held: (await world.run()).row.run_id };
}

describe("diff", () => {
  test("compares the newest held snapshot with what readers see: added is in the first one only", async () => {
    const { world, second, held } = await heldWorld();

    const found = await compare(world, { a: "held", b: undefined });
    const back = await compare(world, { a: second, b: held });

    expect(found).toMatchObject({ a: held, b: second, added: 0, changed: 5, removed: 5 });
    expect(back).toMatchObject({ a: second, b: held, added: 5, changed: 5, removed: 0 });
    expect(found.rows.map(({ uuid }) => uuid)).toEqual(found.rows.map(({ uuid }) => uuid).toSorted());
    expect(found.rows.filter(({ change }) => change === "changed").map(({ fields }) => fields)).toEqual(
      Array(5).fill(["/version"]),
    );
    expect(found.rows.filter(({ change }) => change === "removed").map(({ fields }) => fields)).toEqual(
      Array(5).fill(null),
    );
  });

  test("since an instant compares the head with the last publication that was not later", async () => {
    const { world, first, second } = await heldWorld();
    const store = world.own;
    const [one, two] = (await readLog(store)).map(({ published_at }) => Date.parse(published_at));
    if (one === undefined || two === undefined) throw new Error("two are published");

    const tasks = await Promise.all([one - 1, one, two - 1, two, two + 1].map((ms) => sinceTask(store, ms)));

    expect(tasks.map(({ b }) => b)).toEqual([null, first, first, second, second]);
    expect(new Set(tasks.map(({ a }) => a))).toEqual(new Set([second]));
    expect(await compare(world, { a: second, b: null })).toMatchObject({ b: null, added: 10, removed: 0 });
    expect(await compare(world, { a: second, b: first })).toMatchObject({ changed: 10 });
  });

  test("since an instant whose snapshot is retired says since when it compares, and what has all changes", async () => {
    const { world, first, second } = await heldWorld();
    await markRetired(world.own, first);
    const [one, two] = await readLog(world.own);
    const atMs = Date.parse(one?.published_at ?? "");

    expect(await toldBy(sinceTask(world.own, atMs))).toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: `The snapshot ${first} is retired: its files are deleted, or will be within a day. The next one that is kept was published at ${two?.published_at}: ask since that instant or a later one. event_changes has all changes.`,
    });
    expect(await sinceTask(world.own, Date.parse(two?.published_at ?? ""))).toEqual({ a: second, b: second });
  });

  test("since an instant needs a publication", async () => {
    const { store } = new SmallWorld();

    await expect(sinceTask(accountStore(store, ACCOUNT), 0)).rejects.toThrow("Nothing of the account");
  });

  test("says why an event is missing: gone, or no longer listed", async () => {
    const { world, held } = await withGone();

    const { reasons, rows } = await compare(world, { a: "held", b: undefined });

    expect(reasons).toEqual({ gone: 1, not_listed: 4 });
    const listed = await readLeftOut(world.store, layout(ACCOUNT).leftOut(held));
    for (const { uuid, change, reason } of rows) {
      const expected = listed.some((each) => each.uuid === uuid) ? "gone" : "not_listed";
      expect(reason).toBe(change === "removed" ? expected : null);
    }
  });

  test("says no reason where what was left out is not known", async () => {
    const { world, held } = await withGone();
    await world.store.delete([layout(ACCOUNT).leftOut(held)]);

    const { reasons, removed, rows } = await compare(world, { a: "held", b: undefined });

    expect({ reasons, removed }).toEqual({ reasons: {}, removed: 5 });
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set([null]));
  });

  test("adds everything where nothing is published", async () => {
    const world = new SmallWorld({ require: ["/nothing"] });
    world.show(7);
    const { row } = await world.run();

    expect(await compare(world, { a: "held", b: undefined })).toMatchObject({
      a: row.run_id,
      b: null,
      added: 7,
    });
  });

  test.each([
    { named: "yesterday", says: "An id looks like 2026-11-21T06-00-00.000Z" },
    { named: "2020-01-01T00-00-00.000Z", says: "does not exist. The ids are in the table publications" },
  ])("refuses $named: $says", async ({ named, says }) => {
    const { world, first } = await heldWorld();

    for (const task of [
      { a: named, b: undefined },
      { a: first, b: named },
    ]) {
      const error: unknown = await compare(world, task).catch((thrown) => thrown);
      expect(told(error)).toMatchObject({
        code: "SNAPSHOT_NOT_FOUND",
        message: expect.stringContaining(says),
        fields: { snapshot_id: named },
      });
    }
  });

  test("refuses a retired snapshot, and held where none is", async () => {
    const { world, first, held } = await heldWorld();
    await markRetired(world.own, first);
    await world.accept(held);

    await expect(compare(world, { a: first, b: undefined })).rejects.toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message: expect.stringContaining(`${first} is retired`),
    });
    expect(await toldBy(compare(world, { a: "held", b: undefined }))).toMatchObject({
      code: "SNAPSHOT_NOT_FOUND",
      message:
        "No snapshot of the account uk is held. Name a snapshot by its id. The ids are in the table publications, and in what the status of the account says.",
    });
  });

  test.each([
    { what: "a part of the first", key: (a: string, _b: string) => layout(ACCOUNT).part(a, 0) },
    { what: "a part of the second", key: (_a: string, b: string) => layout(ACCOUNT).part(b, 0) },
    { what: "the manifest of the second", key: (_a: string, b: string) => layout(ACCOUNT).manifest(b) },
  ])("names the damaged file: $what", async ({ key }) => {
    const { world, second, held } = await heldWorld();
    const damaged = key(held, second);
    world.store.put(damaged, "damaged");

    await expect(compare(world, { a: held, b: second })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key: damaged },
    });
  });

  test("ends where the time limit does not cover it, and where a person stops it", async () => {
    const { world } = await heldWorld();
    const stopped = new Error("stopped");

    expect(
      await toldBy(compare(world, { a: "held", b: undefined }, { timeLeftMs: () => 20_000 })),
    ).toMatchObject({
      code: "INTERRUPTED",
      message: expect.stringContaining("On a computer of your own"),
    });
    await expect(
      compare(world, { a: "held", b: undefined }, { signal: AbortSignal.abort(stopped) }),
    ).rejects.toBe(stopped);
  });
});

describe("the first changes", () => {
  const changed = (n: number, fields: readonly string[]): ExplainedChange => ({
    uuid: `uuid ${n}`,
    change: "changed",
    fields,
    before: "{}",
    after: "{}",
    reason: null,
  });

  test("are as many as asked for; all are counted", () => {
    const first = new FirstChanges(2);

    for (let n = 0; n < 5; n += 1) first.add(changed(n, ["/a"]));

    expect(first.counts).toEqual({ added: 0, changed: 5, removed: 0 });
    expect(first.rows).toEqual([
      { uuid: "uuid 0", change: "changed", fields: ["/a"], reason: null },
      { uuid: "uuid 1", change: "changed", fields: ["/a"], reason: null },
    ]);
  });

  test("have what the fields held and hold, to the character, where that is asked for", () => {
    const first = new FirstChanges(10, { withValues: true });
    const of = { uuid: "u", reason: null };

    first.add({
      ...{ ...of, change: "changed", fields: ["/a/0", "/b~1c", "/gone", "/new"] },
      before: '{"a":[1.10],"b/c":"x","gone":null}',
      after: '{"a":[1.1],"b/c":{"d": 1},"new":"\\u00e9"}',
    });
    first.add({ ...of, change: "changed", fields: [""], before: "[1]", after: "[1,2]" });
    first.add({ ...of, change: "added", fields: null, before: null, after: "{}" });

    expect(first.rows.map(({ values }) => values)).toEqual([
      [
        { field: "/a/0", before: "1.10", after: "1.1" },
        { field: "/b~1c", before: '"x"', after: '{"d": 1}' },
        { field: "/gone", before: "null", after: null },
        { field: "/new", before: null, after: '"\\u00e9"' },
      ],
      [{ field: "", before: "[1]", after: "[1,2]" }],
      [{ field: null, before: null, after: "{}" }],
    ]);
  });

  test("take bounded memory, however long their values are", () => {
    const first = new FirstChanges(100_000, { withValues: true });
    const long = `{"a":"${"x".repeat(1_000_000)}"}`;

    for (let n = 0; n < 100; n += 1)
      first.add({ uuid: `${n}`, change: "changed", fields: ["/a"], before: "{}", after: long, reason: null });

    expect(first.rows.length).toBeLessThan(40);
  });

  test("take bounded memory, however long their pointers are", () => {
    const first = new FirstChanges(100_000);
    const long = Array.from({ length: 64 }, (_, n) => `/${n}${"x".repeat(1_000)}`);

    for (let n = 0; n < 2_000; n += 1) first.add(changed(n, long));

    expect(first.counts.changed).toBe(2_000);
    expect(first.rows.length).toBeLessThan(600);
  });
});
