import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import {
  dateRetired,
  listSnapshots,
  markRetired,
  readRetired,
} from "../../../lambdas/job/storage/snapshot-marks.ts";
import { MemoryStore } from "./memory-store.ts";
import { uk } from "./publications.ts";

const [FIRST, SECOND] = ["2026-01-05T06-00-05.000Z", "2026-01-06T06-00-05.000Z"];
const AT = Date.parse("2026-02-01T00:00:00.000Z");

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

it("lists an account's snapshots with their files and marks, oldest first", async () => {
  const parts = [FIRST, SECOND].map((id) => layout("uk").part(id, 0));
  for (const key of [...parts, layout("uk").held(SECOND), layout("us").part(FIRST, 0)]) store.put(key, "x");
  for (const name of ["part-00000 (1).ndjson.gz", "z/part-00000.ndjson.gz", "notes"]) {
    store.put(`${layout("uk").snapshot(FIRST)}${name}`, "not ours");
  }
  await markRetired(uk(store), FIRST);

  expect(await listSnapshots(uk(store))).toMatchObject([
    {
      snapshotId: FIRST,
      files: [
        { key: layout("uk").retired(FIRST), bytes: 3 },
        { key: parts[0], bytes: 1 },
      ],
      isHeld: false,
      isRetired: true,
      bytes: "x{}\n".length,
    },
    {
      snapshotId: SECOND,
      files: [{ key: layout("uk").held(SECOND) }, { key: parts[1] }],
      isHeld: true,
      isRetired: false,
      bytes: 2,
    },
  ]);
});

it("knows since when no table shows a snapshot; the first instant is kept", async () => {
  const found = [await readRetired(uk(store), FIRST)];

  await markRetired(uk(store), FIRST);
  found.push(await readRetired(uk(store), FIRST));
  await dateRetired(uk(store), FIRST, AT);
  await markRetired(uk(store), FIRST);
  await dateRetired(uk(store), FIRST, AT + 1);
  found.push(await readRetired(uk(store), FIRST));

  expect(found).toEqual([undefined, "undated", AT]);
});

it("gives no instant to a snapshot that is not retired", async () => {
  await dateRetired(uk(store), FIRST, AT);

  expect(await readRetired(uk(store), FIRST)).toBeUndefined();
});

it("dates a damaged mark again", async () => {
  store.put(layout("uk").retired(FIRST), "{");
  const damaged = await readRetired(uk(store), FIRST);

  await dateRetired(uk(store), FIRST, AT);

  expect([damaged, await readRetired(uk(store), FIRST)]).toEqual(["undated", AT]);
});

it("passes an error of the store through unchanged", async () => {
  const failure = new SyncError("STORE_FAILED", "The disk does not answer.");
  store.read = () => Promise.reject(failure);

  await expect(readRetired(uk(store), FIRST)).rejects.toBe(failure);
});

it("has written a mark when it returns, however long the store takes", async () => {
  const [create, replace] = [store.create.bind(store), store.replace.bind(store)];
  store.create = async (key, body) => {
    await setImmediate();
    return await create(key, body);
  };
  store.replace = async (key, bytes, version) => {
    await setImmediate();
    return await replace(key, bytes, version);
  };

  await markRetired(uk(store), FIRST);
  const undated = store.text(layout("uk").retired(FIRST));
  await dateRetired(uk(store), FIRST, AT);
  const dated = store.text(layout("uk").retired(FIRST));

  expect([undated, dated]).toEqual(["{}\n", '{"retired_at":"2026-02-01T00:00:00.000Z"}\n']);
});

describe("a mark that is to be there", () => {
  const KEY = layout("uk").retired(FIRST);
  const mark = (): Promise<void> => markRetired(uk(store), FIRST);

  it("is created, and not read again", async () => {
    store.read = () => Promise.reject(new Error("read"));

    await mark();

    expect(store.text(KEY)).toBe("{}\n");
  });

  it("stays as it is", async () => {
    store.put(KEY, '{"other":1}');

    await mark();

    expect(store.text(KEY)).toBe('{"other":1}');
  });

  it("is made again where it is damaged, however long the store takes", async () => {
    store.put(KEY, "{");
    const [create, remove] = [store.create.bind(store), store.delete.bind(store)];
    store.create = async (key, body) => {
      await setImmediate();
      return await create(key, body);
    };
    store.delete = async (key) => {
      await setImmediate();
      await setImmediate();
      await remove(key);
    };

    await mark();

    expect(store.text(KEY)).toBe("{}\n");
  });

  it("is left alone where the store fails", async () => {
    store.put(KEY, "{");
    const failure = new SyncError("STORE_FAILED", "The disk does not answer.");
    store.read = () => Promise.reject(failure);

    await expect(mark()).rejects.toBe(failure);
    expect(store.text(KEY)).toBe("{");
  });
});
