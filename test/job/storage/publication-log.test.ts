// The publication log: numbered without gaps, each number taken once, and nothing guessed from a damaged one.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { accountsIn } from "../../../lambdas/job/storage/known-accounts.ts";
import { publicationId, TABLES } from "../../../lambdas/job/storage/layout.ts";
import { isBeforeRestart, type Publication } from "../../../lambdas/job/storage/publication.ts";
import {
  findPublication,
  isOfRun,
  newestFirst,
  newestReadable,
  publicationBefore,
  publish,
  readEnd,
  readHead,
  readLog,
  readLogSince,
} from "../../../lambdas/job/storage/publication-log.ts";
import {
  type AccountStore,
  accountStore,
  type Body,
  type Store,
} from "../../../lambdas/job/storage/store.ts";
import { told, toldBy } from "../../words/said.ts";
import { watched } from "../run/interposed-store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication, FIRST, logOf, SECOND, uk } from "./publications.ts";

const OTHER = "2026-11-23T06-00-00.000Z";
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

  const byHand = { action: "rollback", run_id: "by-hand" } as const;
  const later = { ...SECOND, ...byHand, published_at: "2026-11-19T06:00:00.000Z" };
  const again = { ...FIRST, ...byHand, publication: "0000000003" };
  it.each<[string, readonly Publication[], (each: Publication) => boolean, Publication | undefined]>([
    ["that carries a run", [FIRST, SECOND], isOfRun(FIRST.run_id), FIRST],
    ["of a run, and not another's", [FIRST, SECOND], isOfRun(OTHER), undefined],
    [
      "of a run, and not an accept that was started at the same instant",
      [{ ...FIRST, action: "accept" }],
      isOfRun(FIRST.run_id),
      undefined,
    ],
    [
      "of a run behind later ones, though their clock was two days back",
      [FIRST, later],
      isOfRun(FIRST.run_id),
      FIRST,
    ],
    [
      "of a snapshot that is the newest, by a run or a person",
      [FIRST, SECOND, again],
      isOfSnapshot(FIRST.snapshot_id),
      again,
    ],
    ["of a snapshot, and not another's", [FIRST, SECOND, again], isOfSnapshot(OTHER), undefined],
  ])("finds the publication %s", async (_, log, isSought, found) => {
    const store = await logOf(...log);

    expect(await findPublication(uk(store), isSought)).toEqual(found);
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

/** Publications 1 to `count`; and the keys that are read from then on. */
async function watchedLog(count: number): Promise<ReturnType<typeof watched>> {
  const numbers = Array.from({ length: count }, (_, index) => publicationId(index + 1));
  return watched(await logOf(...numbers.map((publication) => aPublication({ publication }))));
}

it("reads only the publications after the one that is named", async () => {
  const { store, reads } = await watchedLog(4);

  const { publications } = await readLogSince(uk(store), "0000000002");

  expect(publications.map(({ publication }) => publication)).toEqual(["0000000003", "0000000004"]);
  expect(reads).toEqual(["publications/uk/0000000004.ndjson", "publications/uk/0000000003.ndjson"]);
});

it("reads a long log sixteen files at a time, in order", async () => {
  const log = Array.from({ length: 40 }, (_, index) => ({
    ...FIRST,
    publication: String(index + 1).padStart(10, "0"),
  }));
  const store = await logOf(...log);
  const under: string[] = [];
  let most = 0;
  const read: Store["read"] = async (key) => {
    under.push(key);
    most = Math.max(most, under.length);
    await nextTurn();
    under.splice(under.indexOf(key), 1);
    return store.read(key);
  };

  expect(await readLog(accountStore({ ...uk(store), read }, "uk"))).toEqual(log);
  expect(most).toBe(16);
});

it("reads the newest publications first, and few that are not asked for", async () => {
  const { store, reads } = await watchedLog(6);
  await readEnd(uk(store));
  const toFindTheEnd = reads.length;

  for await (const { publication } of newestFirst(uk(store))) {
    if (publication === "0000000005") break;
  }

  expect(reads.slice(2 * toFindTheEnd - 1)).toEqual([
    "publications/uk/0000000006.ndjson",
    "publications/uk/0000000005.ndjson",
    "publications/uk/0000000004.ndjson",
  ]);
});

describe("a damaged publication log", () => {
  const LINE = `${JSON.stringify(SECOND)}\n`;

  it.each([
    ["cut off", LINE.slice(0, 100)],
    ["without its newline", LINE.trimEnd()],
    ["empty", ""],
    ["of two lines", LINE + LINE],
    ["with a blank line", `${LINE}\n`],
    ["of binary bytes", new Uint8Array([0xff, 0xfe, 0x0a])],
    ["with a byte that is no UTF-8", Buffer.from(LINE.replace("write-2", "write-\xff"), "latin1")],
    ["of another kind", '{"secret":"canary"}\n'],
    ["with a number as text", LINE.replace('"events":3', '"events":"3"')],
    ["with a snapshot outside the warehouse", LINE.replace(SECOND.snapshot_id, "../../etc")],
    ["with the number of another", LINE.replace("0000000002", "0000000007")],
  ])("is STORE_CORRUPT, named and not quoted, for a file %s", async (_, content) => {
    const store = await logOf(FIRST);
    store.put("publications/uk/0000000002.ndjson", content);

    for (const read of [readLog, readHead]) {
      const error: unknown = await read(uk(store)).catch((thrown: unknown) => thrown);

      expect(told(error)).toMatchObject({
        code: "STORE_CORRUPT",
        fields: { key: "publications/uk/0000000002.ndjson" },
        message: expect.stringMatching(
          /publications\/uk\/0000000002\.ndjson is damaged.*Restore this file from a backup/,
        ),
      });
      expect(`${error}`).not.toContain("canary");
      expect(error).not.toHaveProperty("cause");
    }
  });

  it.each([
    ["0000000001", ["0000000002"], "If the account was to be removed, remove it again."],
    ["0000000002", ["0000000001", "0000000003"], "exists. Restore this file"],
  ])("is STORE_CORRUPT where %s is missing, with the remedy", async (missing, present, remedy) => {
    const store = new MemoryStore();
    for (const id of present) {
      store.put(`publications/uk/${id}.ndjson`, `${JSON.stringify(aPublication({ publication: id }))}\n`);
    }

    for (const read of [readLog, readHead]) {
      expect(await toldBy(read(uk(store)))).toMatchObject({
        code: "STORE_CORRUPT",
        fields: { key: `publications/uk/${missing}.ndjson` },
        message: expect.stringContaining(remedy),
      });
    }
  });

  it.each(["UK", "uk copy", "-uk"])("is none in a folder that no account has, such as %s", async (name) => {
    const store = await logOf(FIRST);
    store.put(`publications/${name}/0000000001.ndjson`, LINE);
    store.put("publications/notes.txt", "ours");

    expect(await accountsIn(store, "publications/")).toEqual(["uk"]);
  });

  it("reads only the newest file for the head", async () => {
    const store = await logOf(FIRST, SECOND);
    store.put("publications/uk/0000000001.ndjson", "damaged");

    expect(await readHead(uk(store))).toEqual(SECOND);
  });

  it("gives what can be read beside it, newest first, but hides no other failure", async () => {
    const store = await logOf(FIRST, SECOND);
    store.put("publications/uk/0000000003.ndjson", "damaged");
    const failing = { ...uk(store), read: () => Promise.reject(new Error("no disk")) };

    expect(await Array.fromAsync(newestReadable(uk(store)))).toEqual([SECOND, FIRST]);
    await expect(Array.fromAsync(newestReadable(failing))).rejects.toThrow("no disk");
  });

  it.each([
    ["is gone", async (store: MemoryStore, key: string) => store.delete([key])],
    ["cannot be read", async () => undefined],
  ])("is STORE_CORRUPT where a publication that was listed %s", async (_, happens) => {
    const store = await logOf(FIRST, SECOND);
    const key = "publications/uk/0000000002.ndjson";
    const unread: AccountStore = {
      ...uk(store),
      read: async (asked) => {
        if (asked !== key) return store.read(asked);
        await happens(store, key);
        return undefined;
      },
    };

    await expect(readLog(unread)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
      message: expect.stringContaining("it was listed but no longer exists"),
    });
  });

  it("names what is missing also where nothing after it can be read", async () => {
    const store = await logOf(FIRST);
    store.put("publications/uk/0000000003.ndjson", "unread");
    const unread = { ...uk(store), read: async () => undefined };

    await expect(readHead(unread)).rejects.toMatchObject({
      fields: { key: "publications/uk/0000000002.ndjson" },
    });
  });
});
