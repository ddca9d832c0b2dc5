// The run log: its lines, as readers of NDJSON take them, and which attempts are the newest.

import { expect, test } from "vitest";
import { appendRunLog, lastRuns, runLogEntrySchema } from "../../../../lambdas/job/run/record/run-log.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { aRun } from "../../../cli/report/report-world.ts";
import { FAILED } from "../../../sync/rows.ts";
import { MemoryStore } from "../../storage/memory-store.ts";

test("a row whose texts hold other line ends is one line for every reader", async () => {
  const store = new MemoryStore();
  const row = { ...FAILED, error_message: "one\u0085two\u2028three\u2029four" };

  await appendRunLog(accountStore(store, "uk"), row);

  const [key = ""] = store.keys("run-log/uk/");
  const text = store.text(key) ?? "";
  expect(text).not.toMatch(/[\u0085\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(row);
});

test("a row of an earlier version does not know how many entries were repeated", () => {
  const { repeated: _, ...earlier } = FAILED;

  expect(runLogEntrySchema.parse(earlier)).toEqual({ ...earlier, repeated: null });
});

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

test.each<[string, Parameters<typeof storeOf>[0], readonly string[]]>([
  [
    "in the order in which they ended, also where a resumed run ended after runs that began later",
    [
      { id: 1, hour: 1 },
      { id: 2, hour: 2 },
      { id: 1, attempt: 2, hour: 3 },
    ],
    ["01-2", "02-1", "01-1"],
  ],
  [
    "in this order, also where their files were copied in another one",
    [
      { id: 3, hour: 3 },
      { id: 1, hour: 1 },
      { id: 2, hour: 2 },
    ],
    ["03-1", "02-1", "01-1"],
  ],
  [
    "by what they took, and by the attempt where they ended at once",
    [
      { id: 1, attempt: 2, hour: 1 },
      { id: 1, hour: 1 },
      { id: 2, hour: 0, seconds: 3_700 },
    ],
    ["02-1", "01-2", "01-1"],
  ],
  [
    "first where they do not lie in the future, which hide none",
    [
      { id: 5, hour: 5 },
      { id: 2, hour: 2 },
      { id: 6, hour: 6 },
      { id: 4, hour: 4, seconds: 3_600 },
    ],
    ["04-1", "02-1", "06-1", "05-1"],
  ],
])("the newest attempts are %s", async (_, attempts, expected) => {
  const store = storeOf(attempts);

  expect(await ids(store)).toEqual(expected);
  expect(await ids(store, 2)).toEqual(expected.slice(0, 2));
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
