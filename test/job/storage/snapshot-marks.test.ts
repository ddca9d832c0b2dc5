import { beforeEach, expect, it } from "vitest";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { listSnapshots, markRetired, readRetired } from "../../../lambdas/job/storage/snapshot-marks.ts";
import { MemoryStore } from "./memory-store.ts";

const [FIRST, SECOND] = ["2026-01-05T06-00-05.000Z", "2026-01-06T06-00-05.000Z"];
const AT = Date.parse("2026-02-01T00:00:00.000Z");

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

it("lists an account's snapshots with their files and marks, oldest first", async () => {
  const parts = [FIRST, SECOND].map((id) => layout.part("uk", id, 0));
  for (const key of [...parts, layout.held("uk", SECOND), layout.part("us", FIRST, 0)]) store.put(key, "x");
  await markRetired(store, "uk", FIRST, AT);

  expect(await listSnapshots(store, "uk")).toEqual([
    {
      snapshotId: FIRST,
      keys: [layout.retired("uk", FIRST), parts[0]],
      isHeld: false,
      isRetired: true,
    },
    { snapshotId: SECOND, keys: [layout.held("uk", SECOND), parts[1]], isHeld: true, isRetired: false },
  ]);
});

it("knows when a snapshot was retired; the first mark is kept", async () => {
  expect(await readRetired(store, "uk", FIRST)).toBeUndefined();

  await markRetired(store, "uk", FIRST, AT);
  await markRetired(store, "uk", FIRST, AT + 1);

  expect(await readRetired(store, "uk", FIRST)).toBe(AT);
});

it("makes a damaged mark again", async () => {
  store.put(layout.retired("uk", FIRST), "{");
  expect(await readRetired(store, "uk", FIRST)).toBe("damaged");

  await markRetired(store, "uk", FIRST, AT);

  expect(await readRetired(store, "uk", FIRST)).toBe(AT);
});
