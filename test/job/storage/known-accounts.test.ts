// Which accounts a warehouse has, and what each has of its own.

import { describe, expect, test } from "vitest";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import {
  accountsIn,
  hasRun,
  keysOf,
  knownAccounts,
  orDamage,
} from "../../../lambdas/job/storage/known-accounts.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { createRemoval, publish } from "../../../lambdas/job/storage/publication-log.ts";
import type { Store, StoredKey } from "../../../lambdas/job/storage/store.ts";
import { interposed, watched } from "../run/interposed-store.ts";
import { MemoryStore } from "./memory-store.ts";
import { FIRST, uk } from "./publications.ts";

const { lease, loginRefused, runLog, part, publication } = layout("uk");
const REMOVED = "2026-11-27T06-00-00.000Z";
const BEFORE = runLog("2026-11-26T06-00-00.000Z", 1);
const AFTER = runLog("2026-11-28T06-00-00.000Z", 1);
/** No file of a warehouse, and behind the removal by its name. */
const FOREIGN = "run-log/uk/notes.txt";

function storeWith(...keys: readonly string[]): MemoryStore {
  const store = new MemoryStore();
  for (const key of keys) store.put(key, "");
  return store;
}

describe("the accounts in a folder", () => {
  test("are found by one key of each, however many there are", async () => {
    const lines = ["a", "a-b", "uk"].map((account) =>
      Array.from({ length: 50 }, (_, n) => layout(account).runLog("2026-11-26T06-00-00.000Z", n + 1)),
    );
    const { store, listed } = watched(storeWith(...lines.flat()));

    expect(await accountsIn(store, "run-log/")).toEqual(["a", "a-b", "uk"]);
    expect(listed).toHaveLength(3);
  });

  test("have one among them whose folder cannot be listed: a list that begins in it names it again", async () => {
    const inner = storeWith(layout("de").lease, layout("zz").lease, "accounts/notes.txt");
    const unlisted: StoredKey = { key: "accounts/uk/", modifiedAtMs: 0, bytes: 0 };
    const store: Store = {
      ...interposed(inner),
      async *list(prefix, after = "") {
        const isNamed = unlisted.key > after || after.startsWith(unlisted.key);
        const found = await Array.fromAsync(inner.list(prefix, after));
        yield* [...found, ...(isNamed ? [unlisted] : [])].toSorted((a, b) => (a.key < b.key ? -1 : 1));
      },
    };

    expect(await accountsIn(store, "accounts/")).toEqual(["de", "uk", "zz"]);
  });
});

test.each<{ has: string; keys: readonly string[]; removed?: true; known: boolean; run: boolean }>([
  { has: "a lease only", keys: [lease], known: true, run: false },
  { has: "a refused login only", keys: [loginRefused], known: true, run: false },
  { has: "a line of a run only", keys: [BEFORE], known: true, run: true },
  { has: "a snapshot only", keys: [part("2026-11-26T06-00-00.000Z", 0)], known: false, run: false },
  { has: "files that are no warehouse's", keys: ["accounts/uk/x.txt", FOREIGN], known: false, run: false },
  { has: "nothing but its removal", keys: [], removed: true, known: false, run: false },
  { has: "lines before its removal", keys: [BEFORE, FOREIGN], removed: true, known: false, run: false },
  { has: "a line after its removal", keys: [BEFORE, AFTER], removed: true, known: true, run: true },
  { has: "a lease beside its removal", keys: [lease], removed: true, known: true, run: false },
])("an account that has $has is known: $known, and has a run: $run", async (account) => {
  const store = storeWith(...account.keys);
  if (account.removed) await createRemoval(uk(store), { runId: REMOVED, atMs: 0, writeId: "w" });

  expect(await knownAccounts(store)).toEqual(account.known ? ["uk"] : []);
  expect(await hasRun(uk(store))).toBe(account.run);
});

test("an account with a publication has a run, and a damaged one is known", async () => {
  const store = new MemoryStore();
  await publish(uk(store), FIRST);
  const hasOne = await hasRun(uk(store));
  store.put(publication("0000000001"), "damaged");

  expect(hasOne).toBe(true);
  expect(await knownAccounts(store)).toEqual(["uk"]);
});

test.each<[ErrorCode]>([["STORE_CORRUPT"], ["STORE_FAILED"]])("%s stops no other account", async (code) => {
  const damage = new SyncError(code, "It failed.");

  expect(await orDamage("uk", () => Promise.reject(damage))).toEqual({ account: "uk", damage });
});

test.each<[string, Error]>([
  ["another code", new SyncError("INTERRUPTED", "stopped")],
  ["a defect", new TypeError("a defect")],
])("%s stops all accounts", async (_, error) => {
  await expect(orDamage("uk", () => Promise.reject(error))).rejects.toBe(error);
});

test("an account has its files of the layout in every folder, and no other's", async () => {
  const own = [lease, BEFORE, part("2026-11-26T06-00-00.000Z", 0), publication("0000000001")];
  const store = storeWith(...own, FOREIGN, layout("uk-2").lease, "columns.json");

  const found = await keysOf(uk(store));

  expect(found.own.toSorted()).toEqual(own.toSorted());
  expect(found.foreign).toEqual([FOREIGN]);
});
