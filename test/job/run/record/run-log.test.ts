// The run log: its lines, as readers of NDJSON take them, and which attempts are the newest.

import { describe, expect, test } from "vitest";
import {
  appendRunLog,
  attemptsOf,
  lastRuns,
  runLogEntrySchema,
} from "../../../../lambdas/job/run/record/run-log.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore, type Store } from "../../../../lambdas/job/storage/store.ts";
import { aRun } from "../../../cli/report/report-world.ts";
import { FAILED } from "../../../sync/rows.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";

test("a row whose texts hold other line ends is one line for every reader", async () => {
  const store = new MemoryStore();
  const row = { ...FAILED, error_message: "one\u0085two\u2028three\u2029four" };

  await appendRunLog(uk(store), row);

  const [key = ""] = store.keys("run-log/uk/");
  const text = store.text(key) ?? "";
  expect(text).not.toMatch(/[\u0085\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(row);
});

test("a row of an earlier version does not know how many entries were repeated", () => {
  const { repeated: _, ...earlier } = FAILED;

  expect(runLogEntrySchema.parse(earlier)).toEqual({ ...earlier, repeated: null });
});

const at = (hour: number): string => `2026-11-20T${String(hour).padStart(2, "0")}:00:00.000Z`;
const idOf = (hour: number): string => at(hour).replaceAll(":", "-");

/** Each attempt says `run attempt at hour`, and how many seconds it took; an hour lies between two files. */
function storeOf(attempts: readonly string[]): MemoryStore {
  let nowMs = 0;
  const store = new MemoryStore({ now: () => nowMs });
  for (const text of attempts) {
    nowMs += 3_600_000;
    const [id = 0, attempt = 0, hour = 0, seconds = 5] = (text.match(/\d+/g) ?? []).map(Number);
    const row = aRun({ run_id: idOf(id), attempt, started_at: at(hour), seconds });
    store.put(layout("uk").runLog(idOf(id), attempt), `${JSON.stringify(row)}\n`);
  }
  return store;
}

const newest = async (store: MemoryStore, most = 10): Promise<readonly string[]> =>
  (await lastRuns(uk(store), most, Date.parse(at(4)))).map(
    ({ run_id, attempt }) => `${Number(run_id.slice(11, 13))}-${attempt}`,
  );

test("hides no attempt behind those of the future, however many these are", async () => {
  const future = Array.from({ length: 30 }, (_, index) => `9-${index + 1} at 9`);

  expect((await newest(storeOf(["1-1 at 1", "2-1 at 2", ...future]))).slice(0, 2)).toEqual(["2-1", "1-1"]);
});

test.each([
  [
    "in the order in which they ended, also where a resumed run ended after runs that began later",
    ["1-1 at 1", "2-1 at 2", "1-2 at 3"],
    ["1-2", "2-1", "1-1"],
  ],
  [
    "in this order, also where their files were copied in another one",
    ["3-1 at 3", "1-1 at 1", "2-1 at 2"],
    ["3-1", "2-1", "1-1"],
  ],
  [
    "by what they took, and by the attempt where they ended at once",
    ["1-2 at 1", "1-1 at 1", "2-1 at 0 for 3700"],
    ["2-1", "1-2", "1-1"],
  ],
  [
    "first where they do not lie in the future, which hide none",
    ["5-1 at 5", "2-1 at 2", "6-1 at 6", "4-1 at 4 for 3600"],
    ["4-1", "2-1", "6-1", "5-1"],
  ],
])("the newest attempts are %s", async (_, attempts, expected) => {
  const store = storeOf(attempts);

  expect(await newest(store)).toEqual(expected);
  expect(await newest(store, 2)).toEqual(expected.slice(0, 2));
});

describe("a run with many attempts", () => {
  const withAttempts = (most: number, ...more: readonly string[]): MemoryStore =>
    storeOf([...Array.from({ length: most }, (_, index) => `1-${index + 1} at 1`), ...more]);
  const { attempt: _, ...row } = aRun({ run_id: idOf(1), started_at: at(2), outcome: "FAILED" });

  test("is read from the newest one on", async () => {
    const store = accountStore(withAttempts(12), "uk");

    const read = await Array.fromAsync(attemptsOf(store, idOf(1)), ({ attempt }) => attempt);

    expect(read).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("gets the next one without a try of each number, however many turns an execution had", async () => {
    const store = withAttempts(1_000);
    const tried: string[] = [];
    const create: Store["create"] = (key, body) => {
      tried.push(key);
      return store.create(key, body);
    };

    const { attempt } = await appendRunLog({ ...uk(store), create }, row);

    expect(attempt).toBe(1_001);
    expect(tried).toHaveLength(2);
  });

  test("gets a row once, though another process writes it between the look and the try", async () => {
    const store = withAttempts(11, "1-12 at 2");
    const own = uk(store);
    let isFirst = true;
    const create: Store["create"] = async (key, body) => {
      if (key === own.keys.runLog(idOf(1), 13) && isFirst) {
        isFirst = false;
        await appendRunLog(own, row, true);
      }
      return store.create(key, body);
    };

    const { attempt } = await appendRunLog({ ...own, create }, row, true);

    expect(attempt).toBe(13);
    expect(store.keys("run-log/")).toHaveLength(13);
  });
});

const many = (id: number): readonly string[] =>
  Array.from({ length: 250 }, (_, index) => `${id}-${index + 1} at ${id}`);

test.each([
  [
    "a resumed run, between whose ids many others lie",
    [...many(0), "1-1 at 1", ...many(2), "1-2 at 3"],
    "1-2",
  ],
  ["that of the latest run, also where its file was copied first", ["3-1 at 3", ...many(1)], "3-1"],
  [
    "that of the last turn, also where its file was copied first",
    ["1-1000 at 2", ...Array.from({ length: 999 }, (_, index) => `1-${index + 1} at 1`)],
    "1-1000",
  ],
])("the newest attempt of a long log is %s", async (_, attempts, expected) => {
  expect((await newest(storeOf(attempts)))[0]).toBe(expected);
});
