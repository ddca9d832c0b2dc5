// Readers ignore keys that they do not know, in every kind of file, and files that are none of the warehouse's: a newer
// version, a person or a program may have left them there.

import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { status } from "../../../../../lambdas/job/commands/status.ts";
import { attemptsOf } from "../../../../../lambdas/job/run/record/run-log.ts";
import { accountsIn, knownAccounts } from "../../../../../lambdas/job/storage/known-accounts.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT, DAY_MS, SmallWorld } from "../../small-world.ts";

const UNFINISHED = "2026-01-03T06-00-00.000Z";

interface Made {
  readonly world: SmallWorld;
  readonly first: string;
  readonly held: string;
  readonly retired: string;
}

/** Three publications, the second one of a snapshot that is retired, a held one, and a run that crashed at this effect. */
async function made(diesAt: string): Promise<Made> {
  const world = new SmallWorld({ rangeEvents: 4 });
  const first = await world.publish(10, 1);
  const retired = await world.hold(6, 2);
  await world.accept(retired);
  await world.accept(first, true);
  const held = await world.hold(2, 3);
  const retired_at = new Date(world.clock.now()).toISOString();
  world.store.put(layout(ACCOUNT).retired(retired), `${JSON.stringify({ retired_at })}\n`);
  world.show(10, 4);
  world.gone.add(3);
  await world.crash(diesAt, { runId: UNFINISHED }, "before");
  return { world, first, held, retired };
}

/** Every object in the value has one key more; a map by the name of a type is no such object. */
function extended(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(extended);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [
    key,
    key === "types" ? member : extended(member),
  ]);
  return { ...Object.fromEntries(members), later: { version: 2 } };
}

const extendedLine = (line: string): string => JSON.stringify(extended(JSON.parse(line)));

/** Puts a key more into what the file says of itself and of each of its entries; rows of events stay as they are. */
async function extend({ store }: SmallWorld, key: string): Promise<void> {
  const bytes = Buffer.from((await store.read(key))?.bytes ?? "");
  expect(bytes.length).toBeGreaterThan(0);
  const isZipped = key.endsWith(".gz");
  const lines = (isZipped ? gunzipSync(bytes) : bytes).toString().trimEnd().split("\n");
  const text = `${extendedLines(key, lines).join("\n")}\n`;
  store.put(key, isZipped ? gzipSync(text) : text);
}

function extendedLines(key: string, lines: readonly string[]): readonly string[] {
  if (key.includes("/plan.")) {
    const [header = "", ...events] = lines;
    const entries = events.map(extendedLine);
    const sha256 = createHash("sha256")
      .update(`${entries.join("\n")}\n`)
      .digest("hex");
    return [extendedLine(JSON.stringify({ ...JSON.parse(header), sha256 })), ...entries];
  }
  return lines.map(extendedLine);
}

interface Kind {
  readonly kind: string;
  readonly diesAt?: string;
  readonly key: (made: Made) => string;
  readonly read: (made: Made) => Promise<unknown>;
  readonly expected: object;
}

const seen = ({ world }: Made) => status(world.own, world.clock.now());
const resumed = async ({ world }: Made) => (await world.run({ runId: UNFINISHED })).row;
const PUBLISHED = { outcome: "PUBLISHED", run_id: UNFINISHED, listed: 10, events: 9, gone: 1 };
const MERGED = "_manifest.json";
const COMMITS = `changes/${ACCOUNT}/`;

test.each<Kind>([
  {
    kind: "lease",
    key: () => layout(ACCOUNT).lease,
    read: async (one) => (await seen(one)).lease,
    expected: { run_id: UNFINISHED },
  },
  { kind: "lease of a dead run", key: () => layout(ACCOUNT).lease, read: resumed, expected: PUBLISHED },
  {
    kind: "plan",
    diesAt: "record-00000000",
    key: () => layout(ACCOUNT).plan(UNFINISHED),
    read: resumed,
    expected: PUBLISHED,
  },
  {
    kind: "record of what is staged",
    key: () => layout(ACCOUNT).record(UNFINISHED, 0),
    read: resumed,
    expected: PUBLISHED,
  },
  {
    kind: "list of what was left out",
    diesAt: MERGED,
    key: () => layout(ACCOUNT).leftOut(UNFINISHED),
    read: resumed,
    expected: PUBLISHED,
  },
  {
    kind: "manifest of the run itself",
    diesAt: COMMITS,
    key: () => layout(ACCOUNT).manifest(UNFINISHED),
    read: resumed,
    expected: PUBLISHED,
  },
  {
    kind: "manifest of the head",
    key: ({ first }) => layout(ACCOUNT).manifest(first),
    read: resumed,
    expected: { ...PUBLISHED, changed: 9, removed: 1 },
  },
  {
    kind: "publication",
    key: () => layout(ACCOUNT).publication("0000000003"),
    read: resumed,
    expected: PUBLISHED,
  },
  {
    kind: "held mark",
    key: ({ held }) => layout(ACCOUNT).held(held),
    read: async (one) => (await seen(one)).held[0],
    expected: { reason: "DROPPED" },
  },
  {
    kind: "retired mark",
    key: ({ retired }) => layout(ACCOUNT).retired(retired),
    read: async ({ world, retired }) => (await world.rollback(retired)).error,
    expected: { code: "SNAPSHOT_NOT_FOUND", message: expect.stringContaining("is retired") },
  },
  {
    kind: "line of the run log",
    key: ({ first }) => layout(ACCOUNT).runLog(first, 1),
    read: async (one) => (await seen(one)).runs.find(({ run_id }) => run_id === one.first),
    expected: { outcome: "PUBLISHED", added: 10 },
  },
  {
    kind: "outcome",
    key: ({ first }) => layout(ACCOUNT).outcome(first),
    read: async ({ world, first }) => world.run({ runId: first }),
    expected: { isRepeat: true, row: { outcome: "PUBLISHED" } },
  },
])(
  "a $kind with a key that is not known is read",
  async ({ diesAt = "rows-00000004", key, read, expected }) => {
    const one = await made(diesAt);
    await extend(one.world, key(one));

    expect(await read(one)).toMatchObject(expected);
  },
);

test("runs, retention and status go by files that are none of the warehouse's", async () => {
  const world = new SmallWorld();
  const first = await world.publish(6, 1);
  const foreign = [
    "accounts/README.txt",
    "accounts/a copy (1)/lease.json",
    `accounts/${ACCOUNT}/lease (1).json`,
    "publications/notes.txt",
    "publications/UK/0000000001.ndjson",
    `publications/${ACCOUNT}/0000000001 (1).ndjson`,
    "run-log/Thumbs.db",
    `run-log/${ACCOUNT}/a copy (1).json`,
    `run-log/${ACCOUNT}/notes.ndjson`,
    `run-log/${ACCOUNT}/${first}-1 (1).ndjson`,
    "runs/a copy (1).json",
    `runs/${ACCOUNT}/2020-01-01T00-00-00.000Z/a copy (1).json`,
    `runs/${ACCOUNT}/${first}/kept-00001 (1).ndjson.gz`,
    `runs/${ACCOUNT}/9999-12-31T00-00-00.000Z/plan.ndjson.gz.bak`,
    `snapshots/${ACCOUNT}/2020-01-01T00-00-00.000Z/a copy (1).json`,
    `changes/${ACCOUNT}/a copy (1).json`,
  ].toSorted();
  for (const key of foreign) world.store.put(key, "not ours");
  world.clock.advance(40 * DAY_MS);
  world.show(6, 2);

  const { row } = await world.run();
  const { runs, head } = await status(world.own, world.clock.now());

  expect(row).toMatchObject({ outcome: "PUBLISHED", changed: 6 });
  expect(head).toMatchObject({ publication: "0000000002" });
  expect(runs).toHaveLength(2);
  expect(await Array.fromAsync(attemptsOf(world.own, first))).toHaveLength(1);
  expect(await accountsIn(world.store, "publications/")).toEqual([ACCOUNT]);
  expect(await knownAccounts(world.store)).toEqual([ACCOUNT]);
  expect(world.store.keys().filter((key) => foreign.includes(key))).toEqual(foreign);
});
