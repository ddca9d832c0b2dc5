// The publication log: numbered without gaps, each number taken once, and nothing guessed from a damaged one.

import { describe, expect, it } from "vitest";
import { accountsIn } from "../../../lambdas/job/storage/known-accounts.ts";
import { TABLES } from "../../../lambdas/job/storage/layout.ts";
import {
  findPublication,
  isBeforeRestart,
  isOfRun,
  type Publication,
  publicationBefore,
  publicationsSince,
  publish,
  readHead,
  readLog,
  readLogSince,
} from "../../../lambdas/job/storage/publication-log.ts";
import { accountStore, type Body, type Store } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication, FIRST, logOf, SECOND, uk } from "./publications.ts";

const isOfSnapshot =
  (snapshotId: string) =>
  ({ snapshot_id }: Publication): boolean =>
    snapshot_id === snapshotId;

describe("the publication log", () => {
  it("is empty before the first publication", async () => {
    const store = new MemoryStore();

    expect(await readLog(uk(store))).toEqual([]);
    expect(await readHead(uk(store))).toBeUndefined();
    expect(await findPublication(uk(store), isOfRun(FIRST.run_id))).toBeUndefined();
    expect(await accountsIn(store, "publications/")).toEqual([]);
  });

  it("gives all publications in order, and the newest as the head", async () => {
    const store = await logOf(FIRST, SECOND);

    expect(await readLog(uk(store))).toEqual([FIRST, SECOND]);
    expect(await readHead(uk(store))).toEqual(SECOND);
  });

  it("finds the publication that carries a run", async () => {
    const store = await logOf(FIRST, SECOND);

    expect(await findPublication(uk(store), isOfRun(FIRST.run_id))).toEqual(FIRST);
    expect(await findPublication(uk(store), isOfRun("2026-11-23T06-00-00.000Z"))).toBeUndefined();
  });

  it("finds a run's own publication only, not an accept that was started at the same instant", async () => {
    const store = await logOf({ ...FIRST, action: "accept" });

    expect(await findPublication(uk(store), isOfRun(FIRST.run_id))).toBeUndefined();
  });

  it("finds the publication of a run behind later ones, though their clock was two days back", async () => {
    const later = {
      published_at: "2026-11-19T06:00:00.000Z",
      action: "rollback",
      run_id: "by-hand",
    } as const;
    const store = await logOf(FIRST, { ...SECOND, ...later });

    expect(await findPublication(uk(store), isOfRun(FIRST.run_id))).toEqual(FIRST);
  });

  it("finds the newest publication of a snapshot, by a run or a person", async () => {
    const again = { ...FIRST, publication: "0000000003", action: "rollback", run_id: "by-hand" } as const;
    const store = await logOf(FIRST, SECOND, again);

    expect(await findPublication(uk(store), isOfSnapshot(FIRST.snapshot_id))).toEqual(again);
    expect(await findPublication(uk(store), isOfSnapshot("2026-11-23T06-00-00.000Z"))).toBeUndefined();
  });

  it("gives the publication before one, and none before the first", async () => {
    const store = accountStore(await logOf(FIRST, SECOND), "uk");

    expect(await publicationBefore(store, SECOND.publication)).toEqual(FIRST);
    expect(await publicationBefore(store, FIRST.publication)).toBeUndefined();
  });

  it("writes one line with the keys in the table's order, whatever the object's", async () => {
    const { publication, ...rest } = FIRST;
    const store = await logOf({ ...rest, publication });

    expect(store.text("publications/uk/0000000001.ndjson")).toBe(
      '{"publication":"0000000001","action":"run","snapshot_id":"2026-11-21T06-00-00.000Z","base_snapshot_id":null,' +
        '"published_at":"2026-11-21T06:00:30.000Z","events":3,"added":3,"changed":0,"removed":0,' +
        '"run_id":"2026-11-21T06-00-00.000Z","pinned":false,"write_id":"write-1"}\n',
    );
    expect(Object.keys(JSON.parse(store.text("publications/uk/0000000001.ndjson") ?? ""))).toEqual(
      TABLES.publications.columns.map(({ name }) => name),
    );
  });

  it("reads a publication with a column that a newer version added", async () => {
    const store = new MemoryStore();
    store.put("publications/uk/0000000001.ndjson", `${JSON.stringify({ ...FIRST, later: 1 })}\n`);

    expect(await readHead(uk(store))).toEqual(FIRST);
  });

  it("names the accounts with a publication, sorted", async () => {
    const store = new MemoryStore();
    for (const account of ["uk", "a-b", "a"]) await publish(accountStore(store, account), FIRST);
    store.put("publications-of-others/x/0000000001.ndjson", "");

    expect(await accountsIn(store, "publications/")).toEqual(["a", "a-b", "uk"]);
  });
});

describe("isBeforeRestart", () => {
  const restart = aPublication({ publication: "0000000003", base_snapshot_id: null });
  const { base_snapshot_id: _, ...ofEarlierVersion } = restart;
  it.each([
    ["a first publication is no restart", [FIRST, SECOND], [false, false]],
    ["a base that is not the snapshot before is one", [FIRST, SECOND, restart], [true, true, false]],
    ["a base that is not known is none", [FIRST, SECOND, ofEarlierVersion], [false, false, false]],
  ])("%s", (_title, log, expected) => {
    expect(log.map((publication) => isBeforeRestart(log, publication))).toEqual(expected);
  });
});

describe("publish", () => {
  it("commits a free number", async () => {
    expect(await publish(uk(new MemoryStore()), FIRST)).toBe("committed");
  });

  it("is lost when another writer has the number, and leaves that one's publication", async () => {
    const store = await logOf(FIRST);

    expect(await publish(uk(store), { ...SECOND, publication: "0000000001" })).toBe("lost");
    expect(await readHead(uk(store))).toEqual(FIRST);
  });

  it("is committed when the file that exists is its own earlier write", async () => {
    const store = await logOf(FIRST);

    expect(await publish(uk(store), FIRST)).toBe("committed");
  });

  it("is committed by one of many writers at once", async () => {
    const store = new MemoryStore();

    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => publish(uk(store), { ...FIRST, write_id: `write-${index}` })),
    );

    expect(results.filter((result) => result === "committed")).toHaveLength(1);
  });

  it("passes on that the store failed, because the write may have happened or not", async () => {
    const failure = new Error("the store failed");
    class FailingStore extends MemoryStore {
      override async create(_key: string, _body: Body): Promise<never> {
        throw failure;
      }
    }

    await expect(publish(uk(new FailingStore()), FIRST)).rejects.toBe(failure);
  });

  it("writes nothing that could not be read back", async () => {
    const store = new MemoryStore();

    await expect(publish(uk(store), { ...FIRST, snapshot_id: "../elsewhere" })).rejects.toThrow();
    expect(store.keys()).toEqual([]);
  });
});

/** Publications 1 to `count`, one a day from 1 November 2026; and the keys that are read from then on. */
async function watchedLog(
  count: number,
): Promise<{ readonly store: Store; readonly reads: readonly string[] }> {
  const reads: string[] = [];
  class WatchedStore extends MemoryStore {
    override read(key: string): ReturnType<MemoryStore["read"]> {
      reads.push(key.slice("publications/uk/".length));
      return super.read(key);
    }
  }
  const store = new WatchedStore();
  for (let day = 1; day <= count; day += 1) {
    const publication = `000000000${day}`;
    await publish(uk(store), aPublication({ publication, published_at: `2026-11-0${day}T12:00:00.000Z` }));
  }
  return { store, reads };
}

it("reads only the publications after the one that is named", async () => {
  const { store, reads } = await watchedLog(4);

  const { publications } = await readLogSince(uk(store), "0000000002");

  expect(publications.map(({ publication }) => publication)).toEqual(["0000000003", "0000000004"]);
  expect(reads).toEqual(["0000000004.ndjson", "0000000003.ndjson"]);
});

it("finds a gap also before the one that is named", async () => {
  const { store } = await watchedLog(4);
  await store.delete("publications/uk/0000000001.ndjson");

  await expect(readLogSince(uk(store), "0000000002")).rejects.toMatchObject({
    code: "STORE_CORRUPT",
  });
});

it.each(["2026-11-05T06-00-00.000Z", "2026-11-05T12-00-00.000Z"])(
  "gives the publications since the run %s, newest first, and ends a day before it began",
  async (runId) => {
    const { store } = await watchedLog(6);

    const since = await Array.fromAsync(publicationsSince(uk(store), runId));

    expect(since.map(({ publication }) => publication)).toEqual([
      "0000000006",
      "0000000005",
      "0000000004",
      "0000000003",
    ]);
  },
);

it("reads a publication when it is asked for, and none before", async () => {
  const { store, reads } = await watchedLog(6);

  for await (const { publication } of publicationsSince(uk(store), "2026-11-01T06-00-00.000Z")) {
    if (publication === "0000000005") break;
  }

  expect(reads).toEqual(["0000000006.ndjson", "0000000005.ndjson"]);
});
