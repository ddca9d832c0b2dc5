// The newest attempts, and the times that people read of them.

import { describe, expect, test } from "vitest";
import { lastRuns } from "../../../../lambdas/job/run/record/run-log.ts";
import { durationText, remainingText } from "../../../../lambdas/job/run/record/texts.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { aRun } from "../../../cli/report/report-world.ts";
import { MemoryStore } from "../../storage/memory-store.ts";

const idOf = (hour: number): string => `2026-11-20T${String(hour).padStart(2, "0")}-00-00.000Z`;
const at = (hour: number): string => `2026-11-20T${String(hour).padStart(2, "0")}:00:00.000Z`;

/** Written in this order, an hour between two files. */
function storeOf(
  attempts: readonly {
    readonly id: number;
    readonly attempt?: number;
    readonly hour: number;
    readonly seconds?: number;
  }[],
): MemoryStore {
  let nowMs = 0;
  const store = new MemoryStore({ now: () => nowMs });
  for (const { id, attempt = 1, hour, seconds = 5 } of attempts) {
    nowMs += 3_600_000;
    const row = aRun({ run_id: idOf(id), attempt, started_at: at(hour), seconds });
    store.put(layout("uk").runLog(idOf(id), attempt), `${JSON.stringify(row)}\n`);
  }
  return store;
}

const ids = async (store: MemoryStore, most = 10): Promise<readonly string[]> =>
  (await lastRuns(accountStore(store, "uk"), most, Date.parse(at(4)))).map(
    ({ run_id, attempt }) => `${run_id.slice(11, 13)}-${attempt}`,
  );

describe("the newest attempts are in the order in which they ended", () => {
  test("also where a resumed run ended after runs that began later", async () => {
    const store = storeOf([
      { id: 1, hour: 1 },
      { id: 2, hour: 2 },
      { id: 1, attempt: 2, hour: 3 },
    ]);

    expect(await ids(store)).toEqual(["01-2", "02-1", "01-1"]);
  });

  test("also where their files were copied in another order", async () => {
    const store = storeOf([
      { id: 3, hour: 3 },
      { id: 1, hour: 1 },
      { id: 2, hour: 2 },
    ]);

    expect(await ids(store)).toEqual(["03-1", "02-1", "01-1"]);
    expect(await ids(store, 2)).toEqual(["03-1", "02-1"]);
  });

  test("by what they took, and by the attempt where they ended at once", async () => {
    const store = storeOf([
      { id: 1, attempt: 2, hour: 1 },
      { id: 1, hour: 1 },
      { id: 2, hour: 0, seconds: 3_700 },
    ]);

    expect(await ids(store)).toEqual(["02-1", "01-2", "01-1"]);
  });
});

test("attempts that lie in the future come behind all others, and hide none", async () => {
  const store = storeOf([
    { id: 5, hour: 5 },
    { id: 2, hour: 2 },
    { id: 6, hour: 6 },
    { id: 4, hour: 4, seconds: 3_600 },
  ]);

  expect(await ids(store)).toEqual(["04-1", "02-1", "06-1", "05-1"]);
  expect(await ids(store, 2)).toEqual(["04-1", "02-1"]);
});

test("a resumed run is among the newest of a long log, whose ids are all later", async () => {
  const old = { id: 0, hour: 0 };
  const many = Array.from({ length: 250 }, () => 0).map((_, index) => ({
    id: 1,
    attempt: index + 1,
    hour: 1,
  }));
  const store = storeOf([old, ...many, { ...old, attempt: 2, hour: 2 }]);

  expect((await ids(store))[0]).toBe("00-2");
});

describe("a time as people read it", () => {
  test.each([
    { ms: 0, was: "0 s", left: "0 s" },
    { ms: 1_400, was: "1 s", left: "2 s" },
    { ms: 89_000, was: "89 s", left: "89 s" },
    { ms: 127_000, was: "2 min", left: "3 min" },
    { ms: 5_400_000, was: "1 h 30 min", left: "1 h 30 min" },
    { ms: 7_501_000, was: "2 h 5 min", left: "2 h 6 min" },
    { ms: 50 * 3_600_000, was: "2 days", left: "3 days" },
    { ms: 60_010, was: "60 s", left: "60 s" },
  ])("$ms ms: it was $was, and $left are left", ({ ms, was, left }) => {
    expect(durationText(ms)).toBe(was);
    expect(remainingText(ms)).toBe(left);
  });
});
