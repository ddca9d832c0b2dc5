import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { check } from "../../../lambdas/job/commands/check.ts";
import { removeAccount } from "../../../lambdas/job/commands/decisions.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { type AccountStore, accountStore } from "../../../lambdas/job/storage/store.ts";
import { saidChecks } from "../../words/said.ts";
import { ACCOUNT, type PortChanges, SmallWorld } from "../run/small-world.ts";

let world: SmallWorld;

beforeEach(() => {
  world = new SmallWorld();
});

/** The last line of `check`. */
async function snapshotLine(deep = false, changes: PortChanges = {}) {
  const checks = await check(world.ports(changes), world.settings, { deep });
  return saidChecks(checks).find(({ name }) => name === "snapshot");
}

const publish = (version: number): Promise<string> => world.publish(10, version);

/** Other rows in a whole gzip file: what a flipped bit comes to where gzip does not notice. */
async function changeRows(key: string): Promise<void> {
  const stored = await world.store.read(key);
  const text = gunzipSync(stored?.bytes ?? "").toString();
  world.store.put(key, gzipSync(text.replace('"version', '"Version').replace("added", "Added")));
}

/** Of the same length, as a flipped bit leaves it. */
async function flipByte(key: string): Promise<void> {
  const bytes = Buffer.from((await world.store.read(key))?.bytes ?? "");
  bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
  world.store.put(key, bytes);
}

const RESTART = "Or restart over the damage; then all events count as added: run --over-damaged.";
const PAST = "Damaged, but before the last restart, so it counts no more:";

/** Of the publication of this place in the log. */
function changesPart(index: number, snapshotIds: readonly string[]): string {
  return layout(ACCOUNT).changesPart(`000000000${index + 1}`, snapshotIds[index] ?? "", 0);
}

async function takeAway(key: string): Promise<Buffer> {
  const { bytes = "" } = (await world.store.read(key)) ?? {};
  await world.store.delete([key]);
  return Buffer.from(bytes);
}

const OK = { name: "snapshot", ok: true, code: null, remedy: null };

describe("the line snapshot of check", () => {
  it.each([false, true])("finds nothing wrong with what is removed meanwhile (--deep: %s)", async (deep) => {
    const snapshotId = await publish(1);
    const store = accountStore(world.store, ACCOUNT);
    const open: AccountStore["open"] = async (key) => {
      if (key.startsWith(store.keys.snapshot(snapshotId))) await removeAccount(world.ports());
      return store.open(key);
    };

    expect(await snapshotLine(deep, { store: { ...store, open } })).toEqual(OK);
  });

  it("names a file that the layout does not know and Athena may read", async () => {
    const key = "changes/uk/0000000001/x/part-00000.ndjson.gz.bak";
    await publish(1);
    world.store.put(key, "{}\n");
    world.store.put(key.replace(/[^/]+$/, "_notes"), "");

    for (const deep of [false, true]) {
      const line = await snapshotLine(deep);

      expect(line).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
      expect(line?.remedy).toContain(`The file ${key} is damaged: it is not a file of the warehouse`);
    }
  });

  it("is ok before anything is published, and when the head is as it was published", async () => {
    expect(await snapshotLine()).toEqual(OK);
    await publish(1);
    expect(await snapshotLine()).toEqual(OK);
    expect(await snapshotLine(true)).toEqual(OK);
  });

  it("looks at what lies there before anything is published only when it is asked for everything", async () => {
    const key = "changes/uk/0000000001/x/part-00000.ndjson.gz.bak";
    world.store.put(key, "{}\n");

    expect(await snapshotLine()).toEqual(OK);
    expect((await snapshotLine(true))?.remedy).toContain(key);
  });

  it("names the damaged file of the head, and how to publish over it", async () => {
    const head = await publish(1);
    await changeRows(layout(ACCOUNT).part(head, 0));

    for (const deep of [false, true]) {
      const line = await snapshotLine(deep);

      expect(line).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
      expect(line?.remedy).toContain(layout(ACCOUNT).part(head, 0));
      expect(line?.remedy).toContain(RESTART);
    }
  });

  it("names a file in the head's folder that readers would take for a part", async () => {
    const head = await publish(1);
    const stray = `${layout(ACCOUNT).snapshot(head)}part-00007.ndjson.gz`;
    world.store.put(stray, "");
    world.store.put(`${layout(ACCOUNT).snapshot(head)}.DS_Store`, "");

    const line = await snapshotLine();

    expect(line).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
    expect(line?.remedy).toContain(stray);
    expect(line?.remedy).not.toContain("run --over-damaged");
  });

  describe("with events that are left out", () => {
    let key: string;

    beforeEach(async () => {
      world.gone.add(3);
      key = layout(ACCOUNT).leftOut(await publish(1));
      expect(await snapshotLine()).toEqual(OK);
    });

    it("names their list where it has another uuid, also of an older snapshot", async () => {
      world.store.put(key, (world.store.text(key) ?? "").replace(/"[0-9a-f]/, '"f'));

      const line = await snapshotLine();
      expect(line).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
      expect(line?.remedy).toContain(key);
      // A run makes do without it.
      expect(line?.remedy).not.toContain("run --over-damaged");
      await publish(2);
      expect(await snapshotLine()).toEqual(OK);
      expect((await snapshotLine(true))?.remedy).toContain(key);
    });
  });

  it("does not read older snapshots and changes, unless it is asked for everything", async () => {
    const older = await publish(1);
    await publish(2);
    const damage = [layout(ACCOUNT).part(older, 0), layout(ACCOUNT).changesPart("0000000001", older, 0)];
    for (const key of damage) await flipByte(key);

    expect(await snapshotLine()).toEqual(OK);
    const line = await snapshotLine(true);

    expect(line).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
    for (const key of damage) expect(line?.remedy).toContain(key);
    expect(line?.remedy).toContain(RESTART);
    expect(line?.remedy).toMatch(new RegExp(`out of the tables: retire ${older}$`));
  });

  it.each<[string, (older: string) => string]>([
    ["manifest", (older) => layout(ACCOUNT).manifest(older)],
    ["part", (older) => layout(ACCOUNT).part(older, 0)],
  ])(
    "misses a %s of an older snapshot, and ends with the command that retires it, until the file is restored",
    async (_, keyOf) => {
      const older = await publish(1);
      await publish(2);
      const key = keyOf(older);
      const file = await world.store.read(key);
      await world.store.delete([key]);

      const [line, deep] = [await snapshotLine(), await snapshotLine(true)];
      world.store.put(key, Buffer.from(file?.bytes ?? ""));

      for (const each of [line, deep]) {
        expect(each).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
        expect(each?.remedy).toContain(`The file ${key} is damaged: it is missing`);
        expect(each?.remedy).toMatch(new RegExp(`out of the tables: retire ${older}$`));
        expect(each?.remedy).not.toContain("run --over-damaged");
      }
      expect(await snapshotLine()).toEqual(OK);
    },
  );

  it("names the commands for several older snapshots, ten at most", async () => {
    const ids: string[] = [];
    for (let version = 0; version < 12; version += 1) ids.push(await publish(version));
    for (const id of ids.slice(0, 11)) await world.store.delete([layout(ACCOUNT).part(id, 0)]);

    const line = await snapshotLine();

    const commands = ids.slice(0, 10).map((id) => `retire ${id}`);
    expect(line?.remedy).toMatch(/^11 files are damaged: .*, and 1 more\./);
    expect(line?.remedy?.endsWith(`out of the tables: ${commands.join("; ")}`)).toBe(true);
  });

  describe("with changes", () => {
    const RESTORE = "Restore it from a backup or an older version.";

    it.each([
      ["of the first publication", 0],
      ["of the head", 2],
    ])("misses a file %s, and says both remedies: it is ok after either", async (_, index) => {
      const ids = [await publish(1), await publish(2), await publish(3)];
      const key = changesPart(index, ids);
      const bytes = await takeAway(key);

      const lines = [await snapshotLine(), await snapshotLine(true)];
      world.store.put(key, bytes);
      expect(await snapshotLine()).toEqual(OK);
      await world.store.delete([key]);
      await world.run({ overDamaged: true });

      for (const line of lines) {
        expect(line).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
        expect(line?.remedy).toContain(RESTORE);
        expect(line?.remedy).toContain(RESTART);
        expect(line?.remedy).not.toContain("retire");
      }
      expect(lines[0]?.remedy).toContain(key);
      const after = await snapshotLine();
      expect(after).toMatchObject({ ok: true, code: null });
      expect(after?.remedy).toBe(`${PAST} ${key}.`);
    });

    it("that are flipped is ok, and fails when it is asked for everything, until a restart", async () => {
      const ids = [await publish(1), await publish(2)];
      await flipByte(changesPart(0, ids));

      expect(await snapshotLine()).toEqual(OK);
      expect(await snapshotLine(true)).toMatchObject({ ok: false, remedy: expect.stringContaining(RESTART) });
      await world.run({ overDamaged: true });
      expect(await snapshotLine(true)).toMatchObject({ ok: true, remedy: expect.stringContaining(PAST) });
    });

    it("of a run --over-damagedself misses a file, beside older ones that count no more", async () => {
      const ids = [await publish(1), await publish(2)];
      ids.push((await world.run({ overDamaged: true })).row.snapshot_id ?? "");
      for (const index of [0, 1, 2]) await world.store.delete([changesPart(index, ids)]);

      const line = await snapshotLine();

      expect(line).toMatchObject({ ok: false });
      expect(line?.remedy).toMatch(/^The file changes[/]uk[/]0000000003[/]/);
      expect(line?.remedy).toMatch(
        / it counts no more: changes[/]uk[/]0000000001[/].*, changes[/]uk[/]0000000002[/].*[.]$/,
      );
    });

    it("counts from a publication that is compared with an older snapshot, as an earlier version has made it", async () => {
      const ids = [await publish(1), await publish(2), await publish(3)];
      const key = layout(ACCOUNT).publication("0000000003");
      const text = world.store.text(key) ?? "";
      world.store.put(key, text.replace(`"base_snapshot_id":"${ids[1]}"`, `"base_snapshot_id":"${ids[0]}"`));
      await world.store.delete([changesPart(1, ids)]);

      expect(await snapshotLine()).toMatchObject({ ok: true, remedy: expect.stringContaining(PAST) });
    });

    it("start from a snapshot of another log, as two copies put together have it, until a restart", async () => {
      const ids = [await publish(1), await publish(2), await publish(3)];
      const key = layout(ACCOUNT).publication("0000000003");
      const text = world.store.text(key) ?? "";
      world.store.put(key, text.replace(`"base_snapshot_id":"${ids[1]}"`, '"base_snapshot_id":"another"'));

      const lines = [await snapshotLine(), await snapshotLine(true)];
      await world.run({ overDamaged: true });

      for (const line of lines) {
        expect(line).toMatchObject({ ok: false, code: "STORE_CORRUPT" });
        expect(line?.remedy).toBe(
          `The file ${key} is damaged: its changes start from the snapshot another, which this log does not have: two copies of a warehouse were put together. Restore the folder of one copy from a backup. ${RESTART}`,
        );
      }
      expect(await snapshotLine(true)).toMatchObject({ ok: true, remedy: `${PAST} ${key}.` });
    });

    it("that an earlier version has given up counts as any other", async () => {
      const ids = [await publish(1), await publish(2)];
      await world.store.delete([changesPart(0, ids)]);
      world.store.put(changesPart(0, ids).replace("part-00000.ndjson.gz", "_lost.json"), "{}");

      expect(await snapshotLine()).toMatchObject({ ok: false, remedy: expect.stringContaining(RESTART) });
    });
  });

  it("looks at held snapshots when it is asked for everything", async () => {
    await publish(1);
    const held = await world.hold(2);
    await world.store.delete([layout(ACCOUNT).part(held, 0)]);

    expect((await snapshotLine(true))?.remedy).toContain(layout(ACCOUNT).part(held, 0));
  });

  it("looks at each line of the run log when it is asked for everything, and says that it may be deleted", async () => {
    const key = layout(ACCOUNT).runLog(await publish(1), 1);
    const line = await world.store.read(key);
    world.store.put(
      key,
      Buffer.from(line?.bytes ?? [])
        .toString()
        .slice(0, 50),
    );

    expect(await snapshotLine()).toEqual(OK);
    expect(await snapshotLine(true)).toMatchObject({
      ok: false,
      code: "STORE_CORRUPT",
      remedy: expect.stringMatching(`The file ${key} is damaged: it is not JSON\\. .* Or delete it: `),
    });

    await world.store.delete([key]);
    expect(await snapshotLine(true)).toEqual(OK);
  });

  it("does not miss the files of retired snapshots", async () => {
    world.settings = { ...world.settings, retainDays: 1 };
    const retired = await publish(1);
    world.clock.advance(3 * 24 * 60 * 60 * 1000);
    await publish(2);
    world.clock.advance(2 * 24 * 60 * 60 * 1000);
    await publish(3);
    world.clock.advance(2 * 24 * 60 * 60 * 1000);
    await publish(4);

    expect(world.store.keys(layout(ACCOUNT).snapshot(retired))).toEqual([layout(ACCOUNT).retired(retired)]);
    expect(await snapshotLine(true)).toEqual(OK);
  });

  it.each([
    ["the snapshot that readers see", (_: string, head: string) => layout(ACCOUNT).part(head, 0)],
    ["an older snapshot", (older: string) => layout(ACCOUNT).part(older, 0)],
    ["the changes", (_: string, head: string) => layout(ACCOUNT).changesPart("0000000002", head, 0)],
    ["the run log", (older: string) => layout(ACCOUNT).runLog(older, 1)],
  ])("says that a file of %s is archived, before it reads anything", async (_, keyOf) => {
    const older = await publish(1);
    world.clock.advance(60_000);
    const key = keyOf(older, await publish(2));
    world.store.archive(key);

    for (const deep of [false, true]) {
      const line = await snapshotLine(deep);

      expect(line).toMatchObject({ ok: false, code: "STORE_FAILED" });
      expect(line?.remedy).toContain(
        `Could not read ${key}: it was archived (GLACIER), and cannot be read before it is restored.`,
      );
      expect(line?.remedy).toContain("(GLACIER)");
    }
  });

  it("names one archived file, and how many others there are", async () => {
    const head = await publish(1);
    for (const key of world.store.keys(layout(ACCOUNT).snapshot(head))) world.store.archive(key);

    const line = await snapshotLine();

    expect(line?.remedy).toMatch(/_manifest\.json: .* \(GLACIER\).* The same holds for 1 other files\./);
  });

  it("says that time ran out instead of failing the whole check", async () => {
    await publish(1);

    const line = await snapshotLine(false, { timeLeftMs: () => 20_000 });

    expect(line).toMatchObject({ ok: false, code: "INTERRUPTED" });
    expect(line?.remedy).toContain("On a computer of your own nothing limits the time");
  });
});
