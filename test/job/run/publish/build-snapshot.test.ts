// From recorded ranges to a snapshot: what is verified, what is named, and what is in the way.

import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { TimeBudget } from "../../../../lambdas/job/run/collect/time-budget.ts";
import {
  type BuildSession,
  buildSnapshot,
  SnapshotFacts,
} from "../../../../lambdas/job/run/publish/build-snapshot.ts";
import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { Chain } from "../../../../lambdas/job/snapshot/staging/chain.ts";
import type { Plan } from "../../../../lambdas/job/snapshot/staging/plan.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore, type Store } from "../../../../lambdas/job/storage/store.ts";
import { toldBy } from "../../../words/said.ts";
import { MemoryCatalog } from "../../catalog/memory-catalog.ts";
import {
  ACCOUNT,
  eventAt,
  filesOf,
  makePlan,
  putRange,
  RUN,
  recordKey,
  rowAt,
  rowsKey,
  uuidAt,
} from "../../snapshot/staging/planned.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { interposed } from "../interposed-store.ts";
import { hostWith, settingsWith, worldWith } from "../run-defaults.ts";

const EVENTS = 6;

let store: MemoryStore;
let plan: Plan;
let advanced: number;

beforeEach(async () => {
  store = new MemoryStore();
  plan = await makePlan(store, EVENTS);
  advanced = 0;
});

const part = (index: number): string => layout(ACCOUNT).part(RUN, index);
const manifest = (): string | undefined => store.text(layout(ACCOUNT).manifest(RUN));
const facts = (): SnapshotFacts => new SnapshotFacts(["/n"]);

/** Three ranges of another process; the second one has no row. */
function record(): void {
  putRange(store, plan, 0, 2);
  putRange(store, plan, 2, 4, { gone: [2, 3] });
  putRange(store, plan, 4, 6, { gone: [4] });
}

const portsOn = (on: Store, signal = new AbortController().signal): BuildSession["ports"] => ({
  ...worldWith({}),
  ...hostWith({ signal }),
  store: accountStore(on, ACCOUNT),
  catalog: new MemoryCatalog(on),
});

/** Is over after so many looks at it. */
function timeFor(looks: number): TimeBudget {
  let left = looks;
  return new TimeBudget({ timeLeftMs: () => (left-- > 0 ? 900_000 : 0) });
}

async function build(
  changes: Partial<BuildSession> & { readonly chain?: Chain; readonly facts?: SnapshotFacts } = {},
): Promise<Manifest> {
  const { chain = await Chain.read(accountStore(store, ACCOUNT), plan, await filesOf(store)), ...others } =
    changes;
  const session: BuildSession = {
    ports: portsOn(store),
    settings: settingsWith(),
    timeBudget: new TimeBudget({}),
    get hasAdvanced() {
      return advanced > 0;
    },
    set hasAdvanced(_) {
      advanced += 1;
    },
  };
  return buildSnapshot(Object.assign(session, others), chain, changes.facts ?? facts());
}

async function textOf(key: string): Promise<string> {
  return gunzipSync((await store.read(key))?.bytes ?? new Uint8Array()).toString();
}

const damaged = (key: string, problem: string): object => ({
  code: "STORE_CORRUPT",
  message: expect.stringContaining(`The file ${key} is damaged: ${problem}. `),
});

describe("a snapshot", () => {
  test("has the rows of each range that has some, in order, and what they say", async () => {
    record();

    const built = await build();

    expect(await textOf(part(0))).toBe(`${rowAt(0)}\n${rowAt(1)}\n`);
    expect(await textOf(part(1))).toBe(`${rowAt(5)}\n`);
    expect(store.text(part(2))).toBeUndefined();
    expect(store.text(layout(ACCOUNT).leftOut(RUN))?.match(/[0-9a-f-]{36}/g)).toEqual([2, 3, 4].map(uuidAt));
    expect(built.counts).toMatchObject({ listed: 6, events: 3, gone: 3 });
    expect(built.fields).toContainEqual({ pointer: "/n", count: 3, types: { number: 3 } });
    expect(advanced).toBe(2);
  });

  test("of rows that were counted as they were fetched is the same", async () => {
    record();
    const verified = await build();
    const own = facts();
    for (const event of [0, 1, 5].map(eventAt)) own.add(event, JSON.parse(event));
    for (const place of [0, 2, 4]) own.markCounted(place);
    for (const key of store.keys("snapshots/")) await store.delete([key]);

    expect(await build({ facts: own })).toEqual(verified);
  });

  test("is finished by the next start, which takes the parts that are there", async () => {
    record();
    await store.copy(rowsKey(0), part(0));

    await build();

    expect(advanced).toBe(1);
    expect(manifest()).toBeDefined();
  });

  test("says by which member a list named its next page, where that was set", async () => {
    record();

    const built = await build({ settings: settingsWith({ nextPage: "/next" }) });

    expect(built.settings).toHaveProperty("next_page", "/next");
  });

  test("keeps its manifest", async () => {
    record();
    const first = await build();

    const again = await build();

    expect(again).toEqual(first);
    expect(advanced).toBe(2);
  });
});

describe("rows of another process", () => {
  test.each([
    ["that are not those of the plan", [rowAt(0), rowAt(2)], "its events are not those of the plan"],
    ["that cannot be parsed", [rowAt(0), `{"uuid":"${uuidAt(1)}"`], "it holds a row that cannot be read"],
    [
      "whose event cannot be parsed",
      [rowAt(0), rowAt(1).replace(JSON.stringify(eventAt(1)), '"{"')],
      "it holds a row that cannot be read",
    ],
    ["that lack a column", [rowAt(0), `{"uuid":"${uuidAt(1)}"}`], "it holds a row that cannot be read"],
  ])("%s are refused, and nothing is named [D21]", async (_, lines, problem) => {
    record();
    putRange(store, plan, 0, 2, { lines });

    expect(await toldBy(build())).toMatchObject(damaged(rowsKey(0), problem));

    expect(store.keys("snapshots/")).toEqual([]);
  });

  test("are not called damaged for an error of another kind", async () => {
    record();
    const failing = facts();
    failing.add = () => {
      throw new RangeError("no memory");
    };

    await expect(build({ facts: failing })).rejects.toThrow(RangeError);
  });

  test("are read once more by none who has counted them", async () => {
    record();
    const counted = facts();
    for (const place of [0, 2, 4]) counted.markCounted(place);
    const opened: string[] = [];
    const chain = await Chain.read(
      accountStore(
        {
          ...interposed(store),
          open: (key) => {
            opened.push(key);
            return store.open(key);
          },
        },
        ACCOUNT,
      ),
      plan,
      await filesOf(store),
    );

    await build({ chain, facts: counted });

    expect(opened).toEqual([]);
  });
});

describe("the folder of the snapshot", () => {
  test.each([
    ["a part that was there is another one", () => store.put(part(0), "foreign"), part(0)],
    ["a part that was there has other rows", async () => store.copy(rowsKey(4), part(0)), part(0)],
    ["a part lies behind the last one", () => store.put(part(2), "foreign"), part(2)],
    ["a file is no part and readers read it", () => store.put(`${part(0)}.bak`, "x"), `${part(0)}.bak`],
  ])("is refused where %s", async (_, put, key) => {
    record();
    await put();

    await expect(build()).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(`The file ${key} is damaged: `),
    });

    expect(manifest()).toBeUndefined();
  });

  test.each([
    ["goes away", (key: string) => store.delete([key]), "it is missing"],
    ["gets another size", (key: string) => store.put(key, "short"), "it has 5 bytes, and was written with"],
  ])("is refused where a part %s before the manifest", async (_, change, problem) => {
    record();
    // The file of left-out events is the last one before the look at the folder.
    const changing = interposed(store, async (key) => {
      if (key === layout(ACCOUNT).leftOut(RUN)) await change(part(1));
    });

    await expect(build({ ports: portsOn(changing) })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(`The file ${part(1)} is damaged: ${problem}`),
    });

    expect(manifest()).toBeUndefined();
  });
});

test("a chain that does not cover the plan makes no snapshot", async () => {
  putRange(store, plan, 0, 2);

  await expect(build()).rejects.toMatchObject({
    code: "SNAPSHOT_INCOMPLETE",
    fields: { planned: 6, events: 2, left_out: 0 },
  });

  expect(manifest()).toBeUndefined();
});

test("rows that go away after they were verified end the start; the next one says what is wrong", async () => {
  record();
  const losing = interposed(store, async (key) => {
    if (key === part(1)) await store.delete([rowsKey(4)]);
  });

  await expect(build({ ports: portsOn(losing) })).rejects.toMatchObject({
    code: "STORE_FAILED",
  });
  expect(await toldBy(build())).toMatchObject(damaged(rowsKey(4), "it is missing"));

  expect(manifest()).toBeUndefined();
  expect(store.text(recordKey(4))).toBeDefined();
});

describe("the time", () => {
  /** So many ranges of one event, which are counted: more parts than are named at once. */
  async function longRun(events: number): Promise<{ readonly chain: Chain; readonly facts: SnapshotFacts }> {
    const longPlan = await makePlan(new MemoryStore(), events);
    for (let place = 0; place < events; place += 1) putRange(store, longPlan, place, place + 1);
    const chain = await Chain.read(accountStore(store, ACCOUNT), longPlan, await filesOf(store));
    const all = new SnapshotFacts([]);
    for (const { place } of chain.records) all.markCounted(place);
    return { chain, facts: all };
  }

  test.each([0, 1, 2])("may be over after %i looks at it; what is named is kept", async (looks) => {
    const long = await longRun(20);
    const timeBudget = timeFor(looks);

    await expect(build({ ...long, timeBudget })).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: expect.stringContaining("all 20 events are staged"),
    });
    expect(advanced).toBe(looks * 8);
    expect(manifest()).toBeUndefined();

    await build(long);
    expect(advanced).toBe(20);
    expect(manifest()).toBeDefined();
  });

  test("is not looked at once all is named", async () => {
    const long = await longRun(16);
    const timeBudget = timeFor(2);

    await build({ ...long, timeBudget });

    expect(manifest()).toBeDefined();
  });

  test("may be over by the signal", async () => {
    record();
    const reason = new Error("stop");

    await expect(build({ ports: portsOn(store, AbortSignal.abort(reason)) })).rejects.toBe(reason);

    expect(store.keys("snapshots/")).toEqual([]);
  });

  test("may be over between two ranges that are verified", async () => {
    record();
    const timeBudget = timeFor(2);

    await expect(build({ timeBudget })).rejects.toMatchObject({ code: "INTERRUPTED" });

    expect(store.keys("snapshots/")).toEqual([]);
  });

  test("may be over while a part that is there is verified", async () => {
    record();
    await store.copy(rowsKey(0), part(0));
    const counted = facts();
    for (const place of [0, 2, 4]) counted.markCounted(place);
    const timeBudget = timeFor(1);

    await expect(build({ facts: counted, timeBudget })).rejects.toMatchObject({ code: "INTERRUPTED" });

    expect(manifest()).toBeUndefined();
  });
});

test("what was counted of rows that are not used is forgotten, but not what is required", () => {
  const counted = facts();
  const add = (event: string): void => counted.add(event, JSON.parse(event));
  add('{"old":1}');
  counted.markCounted(0);

  counted.beginAgain();
  add('{"new":1}');

  expect(counted.hasCounted(0)).toBe(false);
  expect(counted.profile.fields).toEqual([{ pointer: "/new", count: 1, types: { number: 1 } }]);
  expect(counted.incomplete).toEqual({ events: 1, fields: [{ pointer: "/n", events: 1 }] });
});
