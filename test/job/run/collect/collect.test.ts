// Ranges: where they are cut, what is recorded when a start ends early, and what is dropped when another process was first.

import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import {
  type CollectSession,
  type CollectTask,
  collect,
  rangeCut,
} from "../../../../lambdas/job/run/collect/collect.ts";
import { TimeBudget } from "../../../../lambdas/job/run/collect/time-budget.ts";
import { StartSkipped } from "../../../../lambdas/job/run/record/run-result.ts";
import type { Detail } from "../../../../lambdas/job/service/event-service.ts";
import { MAX_PART_BYTES } from "../../../../lambdas/job/snapshot/files/parts.ts";
import { Chain } from "../../../../lambdas/job/snapshot/staging/chain.ts";
import type { Plan } from "../../../../lambdas/job/snapshot/staging/plan.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { ManualClock, settled, whileTimePasses } from "../../../simulator/manual-clock.ts";
import { MemoryCatalog } from "../../catalog/memory-catalog.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { aDetail } from "../../service/events/a-detail.ts";
import { aRow } from "../../snapshot/rows/a-row.ts";
import {
  eventAt,
  filesOf,
  makePlan,
  putRange,
  recordKey,
  rowsKey,
  uuidAt,
} from "../../snapshot/staging/planned.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";
import { interposed } from "../interposed-store.ts";
import { hostWith, worldWith } from "../run-defaults.ts";

const EVENTS = 10;
const MINUTE_MS = 60_000;

let store: MemoryStore;
let plan: Plan;
let clock: ManualClock;
/** Places of events whose details are gone. */
let gone: readonly number[];
/** The places of events that the head leaves out. */
let knownPlaces: readonly number[];
/** What is done for the detail of a place before it is there. */
let onDetail: (place: number, signal?: AbortSignal) => Promise<void> | void;
/** Places of the details that were asked for. */
let asked: number[];
/** The rows that were counted since the last lost race. */
let counted: string[];
let recorded: number[];
let log: LogLines;
let startedAtMs: number;

beforeEach(async () => {
  store = new MemoryStore();
  plan = await makePlan(store, EVENTS);
  clock = new ManualClock(0);
  gone = [];
  knownPlaces = Array.from({ length: EVENTS }, (_, place) => place);
  onDetail = () => undefined;
  asked = [];
  counted = [];
  recorded = [];
  startedAtMs = 0;
  log = new LogLines();
});

const placeOf = (uuid: string): number => Array.from({ length: EVENTS }, (_, n) => uuidAt(n)).indexOf(uuid);

async function detail(requestAs: string, signal?: AbortSignal): Promise<Detail> {
  const place = placeOf(requestAs);
  asked.push(place);
  await onDetail(place, signal);
  if (gone.includes(place)) return { kind: "left-out", reason: "gone" };
  return aDetail(eventAt(place), "2026-01-01");
}

let tokens = 0;

interface Changes extends Partial<CollectTask> {
  readonly on?: Store;
  readonly signal?: AbortSignal;
  readonly concurrency?: number;
  readonly timeBudget?: TimeBudget;
}

const begun = (on: Store = store): Chain => new Chain(uk(on), plan);
const found = async (): Promise<Chain> => Chain.read(uk(store), plan, await filesOf(store));

function start(chain: Chain, changes: Changes = {}): Promise<void> {
  const { on = store, signal = new AbortController().signal, concurrency = 1 } = changes;
  const { timeBudget = new TimeBudget({}), ...task } = changes;
  const session: CollectSession = {
    ports: {
      ...worldWith({ clock, random: { next: () => 0.5, token: () => `own${++tokens}` }, logger: log }),
      ...hostWith({ signal }),
      store: uk(on),
      catalog: new MemoryCatalog(store),
    },
    settings: { concurrency, lifted: [], maxMissingPercent: 1, windowMs: MINUTE_MS },
    timeBudget,
    budget: { pause: () => undefined },
    attempt: { startedAtMs },
    hasAdvanced: false,
  };
  return collect(session, {
    chain,
    service: { detail },
    known: { uuids: new Set(knownPlaces.map(uuidAt)), accepted: undefined },
    facts: {
      add: (event) => counted.push(event),
      markCounted: (place) => recorded.push(place),
      beginAgain: () => counted.splice(0),
    },
    cut: { events: 4, ms: MINUTE_MS },
    onDone: () => undefined,
    ...task,
  });
}

/** Of each range, as it is stored: where it begins and ends, and how many rows it has. */
async function ranges(): Promise<readonly string[]> {
  const chain = await found();
  for (const record of chain.records) await chain.verify(record, () => undefined);
  return chain.records.map(({ place, end, rows }) => `${place}–${end}: ${rows?.rows ?? 0}`);
}

const rowsFiles = (): readonly string[] => store.keys().filter((key) => key.includes("/rows-"));

describe("a range is cut", () => {
  test("after so many events, with and without rows", async () => {
    gone = [1, 4, 5, 6, 7];

    await start(begun());

    expect(await ranges()).toEqual(["0–4: 3", "4–8: 0", "8–10: 2"]);
    expect(recorded).toEqual([0, 4, 8]);
    expect(rowsFiles()).toHaveLength(2);
  });

  test("before the row that would make its file too large", async () => {
    const textOf = (length: number): string => `{"uuid":"${uuidAt(0)}","text":"${"x".repeat(length)}"}`;
    const frame = aRow(uuidAt(0), { event_date: "2026-01-01", event: textOf(0) });
    const quarter = MAX_PART_BYTES / 4 - `${JSON.stringify(frame)}\n`.length;
    const large = async (requestAs: string): Promise<Detail> => {
      const answer = await detail(requestAs);
      return answer.kind === "event" && placeOf(requestAs) < 4
        ? { ...answer, event: textOf(quarter) }
        : answer;
    };

    await start(begun(), {
      service: { detail: large },
      cut: { events: 5_000, ms: MINUTE_MS },
    });

    const { records } = await found();
    expect(records.map(({ place, end, rows }) => [place, end, rows?.rows])).toEqual([
      [0, 4, 4],
      [4, 10, 6],
    ]);
  });

  test("after so much time", async () => {
    const onDone = (): void => clock.advance(MINUTE_MS / 3);

    await start(begun(), {
      onDone,
      cut: { events: 5_000, ms: MINUTE_MS },
    });

    expect(await ranges()).toEqual(["0–3: 3", "3–6: 3", "6–9: 3", "9–10: 1"]);
  });

  test.each([
    [10, 0, { events: 1_000, ms: MINUTE_MS }],
    [128_000, 128 * MINUTE_MS, { events: 2_000, ms: 2 * MINUTE_MS }],
    [1_000_000, 10_000 * MINUTE_MS, { events: 5_000, ms: 15 * MINUTE_MS }],
  ])("where %i events take %i ms, at a 64th within bounds", (events, ms, cut) => {
    expect(rangeCut(events, ms)).toEqual(cut);
  });
});

describe("what is finished in order is recorded", () => {
  const STOPPED = new SyncError("INTERRUPTED", "stopped");

  test("at a stop, before it is said", async () => {
    const stop = new AbortController();
    onDetail = (place, signal) => {
      if (place === 6) stop.abort(STOPPED);
      signal?.throwIfAborted();
    };

    await expect(start(begun(), { signal: stop.signal })).rejects.toBe(STOPPED);

    expect(await ranges()).toEqual(["0–4: 4", "4–6: 2"]);
    expect(log.text).toContain("6 of 10 events are kept for the next start of this run");
  });

  test("at a stop, also what leaves no row", async () => {
    const stop = new AbortController();
    gone = [0, 1];
    onDetail = (place, signal) => {
      if (place === 2) stop.abort(STOPPED);
      signal?.throwIfAborted();
    };

    await expect(start(begun(), { signal: stop.signal })).rejects.toBe(STOPPED);

    expect(await ranges()).toEqual(["0–2: 0"]);
    expect(rowsFiles()).toEqual([]);
  });

  test("where the time is over, with what was in flight", async () => {
    let left = 5;
    const timeBudget = new TimeBudget({ timeLeftMs: () => (left-- > 0 ? 900_000 : 0) });

    await expect(start(begun(), { timeBudget, concurrency: 3 })).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: expect.stringContaining("5 of 10 events are staged"),
    });

    expect(asked).toEqual([0, 1, 2, 3, 4]);
    expect(await ranges()).toEqual(["0–4: 4", "4–5: 1"]);
  });

  test("where the service fails, up to the event that failed, and the next start fetches the rest and no more [D18]", async () => {
    knownPlaces = [];
    onDetail = (place) => {
      if (place === 5) throw new SyncError("SERVICE_UNAVAILABLE", "down");
    };

    await expect(start(begun(), { concurrency: 3 })).rejects.toThrow("down");
    const staged = await ranges();
    onDetail = () => undefined;
    asked = [];
    await start(await found());

    expect(staged).toEqual(["0–4: 4", "4–5: 1"]);
    expect(asked).toEqual([5, 6, 7, 8, 9]);
    expect(await ranges()).toEqual([...staged, "5–9: 4", "9–10: 1"]);
  });

  test.each([
    ["the run cannot go on", 6, new SyncError("STORE_CORRUPT", "damaged"), ["0–4: 4"]],
    ["nothing is finished", 0, new SyncError("STORE_FAILED", "down"), []],
  ])("and nothing more, nor is anything said of it, where %s", async (_, failsAt, failure, staged) => {
    onDetail = (place) => {
      if (place === failsAt) throw failure;
    };

    await expect(start(begun())).rejects.toBe(failure);

    expect(await ranges()).toEqual(staged);
    expect(rowsFiles()).toHaveLength(staged.length);
    expect(log.text).not.toContain("are kept");
  });

  test("and a failure of the store is thrown once nothing is in flight", async () => {
    const full = new SyncError("STORE_FAILED", "the disk is full");
    const on = interposed(store, async (key) => {
      if (key === recordKey(0)) throw full;
    });
    let inFlight = 0;
    onDetail = async (place, signal) => {
      if (place < 4) return;
      inFlight += 1;
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      await nextTurn();
      inFlight -= 1;
    };

    await expect(start(begun(on), { on, concurrency: 3 })).rejects.toBe(full);

    expect(asked).toContain(6);
    expect(inFlight).toBe(0);
  });
});

describe("an event whose refusal is news", () => {
  const SECOND_MS = 1_000;

  /** Places of events that are refused the first time, and not the second. */
  let refusedOnce: readonly number[];

  beforeEach(() => {
    knownPlaces = [];
    refusedOnce = [];
  });

  const asDrawn = async (requestAs: string, signal?: AbortSignal): Promise<Detail> => {
    const answer = await detail(requestAs, signal);
    const place = placeOf(requestAs);
    const isFirst = asked.filter((one) => one === place).length === 1;
    return isFirst && refusedOnce.includes(place) ? { kind: "left-out", reason: "forbidden" } : answer;
  };

  const inTime = (work: Promise<void>): Promise<void> => whileTimePasses(clock, work);

  test("is asked for again behind those after it, and only then recorded, in order", async () => {
    refusedOnce = [2];
    gone = [7];

    await inTime(start(begun(), { service: { detail: asDrawn } }));

    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 7, 2]);
    expect(clock.monotonicMs()).toBe(5 * SECOND_MS);
    expect(await ranges()).toEqual(["0–4: 4", "4–8: 3", "8–10: 2"]);
  });

  test("costs no more than the time of one wait, however many there are", async () => {
    refusedOnce = [0, 3, 6, 9];

    await inTime(start(begun(), { service: { detail: asDrawn } }));

    expect(clock.monotonicMs()).toBe(5 * SECOND_MS);
    expect(await ranges()).toHaveLength(3);
  });

  test("waits no longer where a person stops the run, and the next start asks for it again, twice", async () => {
    gone = [2];
    const stop = new AbortController();
    const service = { detail: asDrawn };
    const stopped = start(begun(), { service, signal: stop.signal });
    stopped.catch(() => undefined);
    await settled();
    stop.abort(new SyncError("INTERRUPTED", "stopped"));
    await expect(stopped).rejects.toThrow("stopped");
    expect(clock.monotonicMs()).toBe(0);
    expect(await ranges()).toEqual(["0–2: 2"]);
    asked = [];

    await inTime(start(await found(), { service }));

    expect(asked).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 2, 9]);
  });

  test("is asked for again before a turn ends whose time is over, and no other event is begun", async () => {
    gone = [1];
    const timeBudget = new TimeBudget({ timeLeftMs: () => (asked.length < 4 ? 900_000 : 0) });

    await expect(inTime(start(begun(), { service: { detail: asDrawn }, timeBudget }))).rejects.toMatchObject({
      stop: { reason: "TIME_LIMIT" },
    });

    expect(asked).toEqual([0, 1, 2, 3, 1, 3]);
    expect(await ranges()).toEqual(["0–4: 3"]);
  });

  test("has a request of the budget kept for it, so that each turn comes further", async () => {
    gone = [0];
    const timeBudget = new TimeBudget(
      {},
      {
        waitMs: (requests) => (asked.length + requests > 3 ? 10 * MINUTE_MS : 0),
        waiting: 0,
        detailsPerWindow: 3,
        windowMs: 10 * MINUTE_MS,
      },
    );

    await expect(inTime(start(begun(), { service: { detail: asDrawn }, timeBudget }))).rejects.toMatchObject({
      stop: { reason: "BUDGET" },
    });

    expect(asked).toEqual([0, 1, 0, 1]);
    expect(await ranges()).toEqual(["0–2: 1"]);
  });

  test("is asked for once where what earlier starts left out holds the snapshot", async () => {
    gone = [0, 1, 2, 8];
    knownPlaces = gone;
    // Of an error of credentials nothing more is asked.
    onDetail = (place) => {
      if (place === 5) throw new SyncError("SERVICE_UNAVAILABLE", "down");
    };
    await expect(start(begun())).rejects.toThrow("down");
    expect(await ranges()).toEqual(["0–4: 1", "4–5: 1"]);
    knownPlaces = [];
    onDetail = () => undefined;
    asked = [];

    await start(await found());

    expect(asked).toEqual([5, 6, 7, 8, 9]);
    const { records } = await found();
    expect(records.map(({ unconfirmed }) => unconfirmed)).toEqual([undefined, undefined, true, undefined]);
  });

  test("counts beside what an earlier start has read, which is asked for in between", async () => {
    gone = [0];
    knownPlaces = [0];
    onDetail = (place) => {
      if (place === 3) throw new SyncError("INTERRUPTED", "stopped");
    };
    await expect(start(begun())).rejects.toThrow("stopped");
    expect(await ranges()).toEqual(["0–3: 2"]);
    onDetail = () => undefined;
    gone = [0, 3, 4, 5, 6, 7, 8, 9];
    asked = [];

    await inTime(start(await found()));

    expect(new Set(asked.filter((place) => place < 3))).toEqual(new Set([2]));
    expect(await ranges()).toEqual(["0–3: 2", "3–7: 0", "7–10: 0"]);
  });

  test("counts where no event is ever read", async () => {
    gone = Array.from({ length: EVENTS }, (_, place) => place);

    await inTime(start(begun(), { service: { detail: asDrawn } }));

    expect(await ranges()).toEqual(["0–4: 0", "4–8: 0", "8–10: 0"]);
  });

  test("counts for nothing where the time is over before any event is read", async () => {
    gone = [0, 1];
    const timeBudget = new TimeBudget({ timeLeftMs: () => (asked.length < 2 ? 900_000 : 0) });

    await expect(inTime(start(begun(), { service: { detail: asDrawn }, timeBudget }))).rejects.toMatchObject({
      stop: { reason: "TIME_LIMIT" },
    });

    expect(await ranges()).toEqual([]);
  });

  test("is left out by a later start, where it fails as before", async () => {
    onDetail = (place) => {
      if (place === 9) throw new SyncError("SERVICE_UNAVAILABLE", "down");
    };
    await expect(inTime(start(begun()))).rejects.toThrow("down");
    clock.advance(10 * MINUTE_MS);
    startedAtMs = clock.now();

    await inTime(start(await found()));

    expect((await found()).records.at(-1)?.left_out).toEqual([{ uuid: uuidAt(9), reason: "unreadable" }]);
  });
});

describe("after a lost lease", () => {
  const LOST = new StartSkipped("LEASE_LOST", "Another process took over the lease.");

  test("nothing is recorded where the signal says so", async () => {
    const lost = new AbortController();
    onDetail = (place) => {
      if (place === 6) lost.abort(LOST);
    };

    await expect(start(begun(), { signal: lost.signal })).rejects.toBe(LOST);

    expect(recorded).toEqual([0]);
    expect(store.keys().filter((key) => key.includes("/record-"))).toEqual([recordKey(0)]);
  });

  test("nothing is recorded where it shows only then", async () => {
    const on = interposed(store, async (key) => {
      if (key === recordKey(4)) throw LOST;
    });

    await expect(start(begun(on), { on })).rejects.toBe(LOST);

    expect(store.keys().filter((key) => key.includes("/record-"))).toEqual([recordKey(0)]);
  });
});

describe("where another process records first", () => {
  /** The other process records right before this one's second record. */
  function raced(record: () => void): Store {
    return interposed(store, async (key) => {
      if (key === recordKey(4) && store.text(key) === undefined) record();
    });
  }

  test.each([
    ["a shorter range", [5], ["5–9: 4", "9–10: 1"]],
    ["a longer range", [9], ["9–10: 1"]],
    ["all of the rest", [6, 10], []],
  ])("%s, its own rows are deleted, and it goes on at the end of the other's", async (_, ends, then) => {
    const others = ends.map((end, n) => ({ place: ends[n - 1] ?? 4, end }));
    const on = raced(() => {
      for (const { place, end } of others) putRange(store, plan, place, end);
    });

    await start(begun(on), { on });

    const theirs = others.map(({ place, end }) => `${place}–${end}: ${end - place}`);
    expect(await ranges()).toEqual(["0–4: 4", ...theirs, ...then]);
    expect(recorded).toEqual([0, ...then.map((range) => Number.parseInt(range, 10))]);
    // One file for each record: that of the lost race is gone.
    expect(rowsFiles()).toHaveLength(1 + theirs.length + then.length);
    expect(rowsFiles()).toContain(rowsKey(4));
  });

  test("and it fails where its own rows cannot be deleted", async () => {
    const failure = new SyncError("STORE_FAILED", "for a moment");
    const on: Store = {
      ...raced(() => putRange(store, plan, 4, 5)),
      delete: () => Promise.reject(failure),
    };

    await expect(start(begun(on), { on })).rejects.toBe(failure);
  });

  test("what is still in flight is not counted", async () => {
    const last = Promise.withResolvers<void>();
    onDetail = (place) =>
      place === 6 && asked.filter((one) => one === 6).length === 1 ? last.promise : undefined;
    const on: Store = {
      ...raced(() => putRange(store, plan, 4, 5)),
      // While the file goes away, an answer comes.
      delete: async (keys) => {
        last.resolve();
        await new Promise((resolve) => setTimeout(resolve, 5));
        await store.delete(keys);
      },
    };

    await start(begun(on), {
      on,
      concurrency: 3,
      cut: { events: 2, ms: MINUTE_MS },
    });

    expect(counted.toSorted()).toEqual([5, 6, 7, 8, 9].map(eventAt));
  });
});
