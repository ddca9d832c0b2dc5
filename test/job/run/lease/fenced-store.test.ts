// The fence before each key: which writes confirm the lease, and that nothing is written once it is lost.

import { beforeEach, describe, expect, test } from "vitest";
import { fencedStore } from "../../../../lambdas/job/run/lease/lease-account.ts";
import { StartSkipped } from "../../../../lambdas/job/run/record/run-result.ts";
import { COLUMNS_FILE, layout } from "../../../../lambdas/job/storage/layout.ts";
import type { AccountStore } from "../../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";

const KEYS = layout("uk");
const ID = "2026-01-01T06-00-00.000Z";
const NUMBER = "0000000007";

/** Every key that a process with the lease writes. */
const PLAIN = [
  KEYS.plan(ID),
  KEYS.rows(ID, 0, "token"),
  KEYS.part(ID, 0),
  KEYS.leftOut(ID),
  KEYS.manifest(ID),
  KEYS.held(ID),
  KEYS.retired(ID),
  KEYS.changesPart(NUMBER, ID, 0),
  KEYS.publication(NUMBER),
  KEYS.runLog(ID, 1),
  KEYS.writeCheck("token"),
  KEYS.loginRefused,
  COLUMNS_FILE,
] as const;
const DECIDING = [KEYS.record(ID, 0), KEYS.outcome(ID)] as const;
const ALL = [...PLAIN, ...DECIDING];

const LOST = new StartSkipped("LEASE_LOST", "Another process works.");
const BYTES = Buffer.from("written");

let memory: MemoryStore;
let lost: AbortController;
let isRenewalOverdue: boolean;
let confirmed: number;
/** What a confirmation finds. */
let isTaken: boolean;
let store: AccountStore;

beforeEach(() => {
  memory = new MemoryStore();
  memory.put("from", BYTES);
  lost = new AbortController();
  isRenewalOverdue = false;
  isTaken = false;
  confirmed = 0;
  store = fencedStore(uk(memory), {
    lost: lost.signal,
    get isRenewalOverdue() {
      return isRenewalOverdue;
    },
    confirm: async () => {
      confirmed += 1;
      if (isTaken) lost.abort(LOST);
      lost.signal.throwIfAborted();
      isRenewalOverdue = false;
    },
  });
});

const create = (key: string): Promise<unknown> => store.create(key, BYTES);
const copy = (key: string): Promise<unknown> => store.copy("from", key);
const replace = async (key: string): Promise<unknown> => {
  memory.put(key, "before");
  return store.replace(key, BYTES, (await memory.read(key))?.version ?? "");
};
const remove = (key: string): Promise<unknown> => store.delete([key]);
const WRITES = { create, copy, replace } as const;
const each = (keys: readonly string[]): readonly (readonly [keyof typeof WRITES, string])[] =>
  keys.flatMap((key) => (["create", "copy", "replace"] as const).map((verb) => [verb, key] as const));

describe("the lease is confirmed", () => {
  test.each(each(DECIDING))("always before: %s %s", async (verb, key) => {
    await WRITES[verb](key);
    await WRITES[verb](key);

    expect(confirmed).toBe(2);
    expect(memory.text(key)).toBe("written");
  });

  test.each(each(PLAIN))(
    "where a renewal was missed, and then not again, before: %s %s",
    async (verb, key) => {
      isRenewalOverdue = true;
      await WRITES[verb](key);
      await WRITES[verb](key);

      expect(confirmed).toBe(1);
      expect(memory.text(key)).toBe("written");
    },
  );

  test.each(each(PLAIN))("not where it is renewed, before: %s %s", async (verb, key) => {
    await WRITES[verb](key);

    expect(confirmed).toBe(0);
    expect(memory.text(key)).toBe("written");
  });

  test("before the first of deletions that follow one another, also of concurrent ones", async () => {
    for (const key of ALL) memory.put(key, "before");

    await Promise.all(ALL.map(remove));
    const ofAll = confirmed;
    await create(KEYS.plan(ID));
    await remove(KEYS.part(ID, 0));
    isRenewalOverdue = true;
    await remove(KEYS.part(ID, 1));

    expect(ofAll).toBe(1);
    expect(confirmed).toBe(3);
    expect(memory.keys()).toEqual(["from", KEYS.plan(ID)]);
  });
});

test("deleting nothing needs no lease", async () => {
  lost.abort(LOST);

  await store.delete([]);

  expect(confirmed).toBe(0);
});

describe("nothing is written", () => {
  test.each(ALL)("once the lease is known to be lost: %s", async (key) => {
    lost.abort(LOST);

    await expect(create(key)).rejects.toBe(LOST);
    await expect(copy(key)).rejects.toBe(LOST);
    await expect(replace(key)).rejects.toBe(LOST);
    await expect(remove(key)).rejects.toBe(LOST);

    expect(memory.text(key)).toBe("before");
    expect(confirmed).toBe(0);
  });

  test.each(ALL)("where a process that missed a renewal finds that it is lost: %s", async (key) => {
    [isTaken, isRenewalOverdue] = [true, true];

    await expect(create(key)).rejects.toBe(LOST);

    expect(memory.text(key)).toBeUndefined();
  });
});

test("a later deletion of several that finds the lease lost deletes nothing", async () => {
  for (const key of [KEYS.part(ID, 0), KEYS.part(ID, 1)]) memory.put(key, "before");
  await remove(KEYS.part(ID, 0));
  [isTaken, isRenewalOverdue] = [true, true];

  await expect(remove(KEYS.part(ID, 1))).rejects.toBe(LOST);

  expect(memory.keys()).toEqual(["from", KEYS.part(ID, 1)]);
});

test("reading needs no lease", async () => {
  lost.abort(LOST);

  expect((await store.read("from"))?.bytes).toEqual(BYTES);
  expect(await Array.fromAsync(store.list(""), ({ key }) => key)).toEqual(["from"]);
  expect(await store.open("from")).toBeDefined();
});
