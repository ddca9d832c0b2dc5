// A list whose pages repeat events is read again, until two readings agree or there were three of them.

import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { check } from "../../../../lambdas/job/commands/check.ts";
import { discover } from "../../../../lambdas/job/commands/discover.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { readList } from "../../../../lambdas/job/run/collect/read-list.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import type { EventList } from "../../../../lambdas/job/service/event-service.ts";
import { EventListBuilder, EventTexts } from "../../../../lambdas/job/service/events/list/listed-events.ts";
import { ServiceCounts } from "../../../../lambdas/job/service/requests/sender.ts";
import { readPlan } from "../../../../lambdas/job/snapshot/staging/plan.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { acceleratedClock } from "../../../simulator/clocks.ts";
import { makeEvents, uuidOf } from "../../../simulator/simulated-event.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { MemoryExecutions } from "../hand-over/memory-executions.ts";
import { serviceWith } from "../run-defaults.ts";
import { Sandbox } from "../sandbox.ts";
import { ACCOUNT, type PortChanges, SmallWorld } from "../small-world.ts";

/** Pages of numbers of events: `1 2 | 3`; `?` stands for an entry without a valid uuid. */
type Reading = string;

const SECOND_MS = 1_000;

interface Options {
  readonly maxMissingPercent?: number;
  /** How long each takes. */
  readonly readingSeconds?: readonly number[];
  /** What each says of itself. */
  readonly incomplete?: SyncError;
}

/** The service sends one reading after the other; an entry says of which it is. */
class PagedWorld {
  readonly small: SmallWorld;
  readonly #readings: readonly Reading[];
  readonly #readingSeconds: readonly number[];
  readonly #incomplete: SyncError | undefined;
  reads = 0;

  constructor(readings: readonly Reading[], options: Options = {}) {
    const { maxMissingPercent = 1, readingSeconds = [], incomplete } = options;
    this.#readings = readings;
    this.#readingSeconds = readingSeconds;
    this.#incomplete = incomplete;
    this.small = new SmallWorld({ maxMissingPercent });
    this.small.show(Math.max(...readings.flatMap((reading) => reading.match(/\d+/g) ?? []).map(Number)));
  }

  run(changes: PortChanges = {}): Promise<RunResult> {
    const pages = serviceWith(this.small.ports(), () => ({ list: () => this.list() }));
    return this.small.run({ runId: "2026-01-02T06-00-00.000Z" }, { ...pages, ...changes });
  }

  /** With so many seconds for it. */
  runWithin(seconds: number): Promise<RunResult> {
    const { clock } = this.small;
    const endMs = clock.now() + seconds * SECOND_MS;
    return this.run({ timeLeftMs: () => endMs - clock.now() });
  }

  async plan() {
    const [key = ""] = this.small.store.keys(layout(ACCOUNT).runs).filter((each) => each.includes("plan"));
    return (await readPlan(this.small.store, key))?.header;
  }

  /** The rows that readers see: uuid and listing. */
  async listings(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.small.catalog.events(ACCOUNT);
    return new Map(rows.map(({ uuid, listing }) => [uuid, listing]));
  }

  async list(): Promise<EventList> {
    const reading = this.#readings[this.reads];
    if (reading === undefined) throw new Error("one reading too many");
    this.small.clock.advance((this.#readingSeconds[this.reads] ?? 0) * SECOND_MS);
    this.reads += 1;
    const list = new EventListBuilder();
    for (const page of reading.split(" | ")) {
      const entries = page.split(" ");
      const events = new EventTexts();
      for (const entry of entries)
        if (entry !== "?") events.add(uuid(Number(entry)), listing(Number(entry), this.reads));
      list.add(events, entries.length - events.length);
    }
    return { ...list.finish(), incomplete: this.#incomplete };
  }
}

const uuid = (n: number): string => uuidOf(`small ${n}`);
const listing = (n: number, reading: number): string => `{"uuid":"${uuid(n)}","reading":${reading}}`;
const listed = (...of: readonly (readonly [n: number, reading: number])[]): ReadonlyMap<string, string> =>
  new Map(of.map(([n, reading]): [string, string] => [uuid(n), listing(n, reading)]).toSorted());

describe("a list", () => {
  test.each<{ what: string; readings: readonly Reading[]; reads: number; events: number; repeated: number }>([
    { what: "without a repeated event", readings: ["1 2 | 3"], reads: 1, events: 3, repeated: 0 },
    {
      what: "that repeats one on the same page",
      readings: ["1 2 1 | 3"],
      ...{ reads: 1, events: 3, repeated: 1 },
    },
    // Nothing in it shows that 4 was lost: the README says so.
    { what: "that only lost one", readings: ["1 2 3 | 5"], reads: 1, events: 4, repeated: 0 },
    {
      what: "whose pages overlap on purpose",
      readings: ["1 2 3 | 3 4", "1 2 3 | 3 4"],
      ...{ reads: 2, events: 4, repeated: 1 },
    },
    {
      what: "that got another event while it was read",
      readings: ["2 3 | 3 4", "1 2 | 3 4", "1 2 | 3 4"],
      ...{ reads: 3, events: 4, repeated: 0 },
    },
    {
      what: "that got an event and lost one while it was read",
      readings: ["2 3 | 3 4 | 6", "1 2 | 4 5 | 6", "1 2 | 4 5 | 6"],
      ...{ reads: 3, events: 5, repeated: 0 },
    },
    {
      what: "that was as before at the third reading, with other repetitions",
      readings: ["1 2 | 2 3", "1 2 | 4", "1 2 | 1 3 | 3"],
      ...{ reads: 3, events: 3, repeated: 2 },
    },
  ])("$what is read $reads times and published", async ({ readings, reads, events, repeated }) => {
    const world = new PagedWorld(readings);

    const { row, explanation } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", reason: null, events, repeated });
    expect(explanation).toBe("The publication is the first one here of the account uk.");
    expect(world.reads).toBe(reads);
    expect(await world.plan()).toMatchObject({ readings: reads, unstable: 0, repeated });
    const texts = [...(await world.listings()).values()];
    expect(texts.map((text) => JSON.parse(text).reading)).toEqual(texts.map(() => reads));
  });

  test("leaves nothing in the header of the plan that is not a plan's", async () => {
    const world = new PagedWorld(["1 2"]);

    await world.run();

    const [key = ""] = world.small.store.keys(layout(ACCOUNT).runs).filter((each) => each.includes("plan"));
    const stored = await world.small.store.read(key);
    const [header = ""] = gunzipSync(stored?.bytes ?? "")
      .toString()
      .split("\n");
    const keys =
      "account created_at events fingerprint listed log_end readings rejected repeated run_id sha256 shape";
    expect(Object.keys(JSON.parse(header)).toSorted()).toEqual(`${keys} trigger unstable version`.split(" "));
  });

  test.each<{ last: Reading; row: object }>([
    { last: "1 2 3 | 3 4", row: { outcome: "FAILED", error_code: "LIST_INCOMPLETE" } },
    { last: "1 2 3 | 3 5", row: { outcome: "PUBLISHED", events: 5 } },
  ])(
    "that states more than two readings have that agree is read again: $row.outcome",
    async ({ last, row }) => {
      const incomplete = new SyncError("LIST_INCOMPLETE", "states a total of 5");
      const world = new PagedWorld(["1 2 3 | 3 4", "1 2 3 | 3 4", last], { incomplete });

      expect(await world.run()).toMatchObject({ row });
      expect(world.reads).toBe(3);
    },
  );

  const NEVER_AGREE: readonly Reading[] = ["1 2 ? | 2 3 7", "1 2 ? ? | 4", "2 5 | ? 6"];

  test("whose readings never agree is published with what any of them has, where few enough differ", async () => {
    const world = new PagedWorld(NEVER_AGREE, { maxMissingPercent: 75 });

    const { row, explanation } = await world.run();

    expect(await world.listings()).toEqual(listed([1, 2], [2, 3], [3, 1], [4, 2], [5, 3], [6, 3], [7, 1]));
    expect(await world.plan()).toMatchObject({ readings: 3, unstable: 6, repeated: 1, rejected: 1 });
    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 8, events: 7, rejected: 1, repeated: 1 });
    expect(explanation).toBe(
      "The list changed while it was read: 6 of 8 events are not in each of its 3 readings, and others may be missing. The publication is the first one here of the account uk.",
    );
  });

  test("whose readings never agree is held where too many differ, and says the limit [D9]", async () => {
    const world = new PagedWorld(NEVER_AGREE, { maxMissingPercent: 74 });

    const { row, explanation } = await world.run();

    expect(row).toMatchObject({ outcome: "HELD", reason: "LIST_UNSTABLE", events: 7, repeated: 1 });
    expect(explanation).toContain(
      "6 of 8 events are not in each of its 3 readings, and others may be missing. The limit is 5.",
    );
    expect((await world.small.accept(row.snapshot_id)).row).toMatchObject({
      outcome: "PUBLISHED",
      repeated: 1,
    });
  });

  test.each([
    { readings: [60, 60, 60], seconds: 149, reads: 1 },
    { readings: [60, 60, 60], seconds: 151, reads: 2 },
    { readings: [60, 60, 60], seconds: 209, reads: 2 },
    { readings: [60, 60, 60], seconds: 211, reads: 3 },
    { readings: [60, 120, 60], seconds: 329, reads: 2 },
    { readings: [60, 120, 60], seconds: 331, reads: 3 },
  ])(
    "is read $reads times where readings take $readings s, $seconds s are left, and 30 s are kept",
    async ({ readings, seconds, reads }) => {
      const world = new PagedWorld(NEVER_AGREE, { readingSeconds: readings });

      await world.runWithin(seconds);

      expect(world.reads).toBe(reads);
      expect(await world.plan()).toMatchObject({ readings: reads });
    },
  );

  test.each([
    { overlap: 5, outcome: "PUBLISHED", reason: null },
    { overlap: 6, outcome: "HELD", reason: "LIST_UNSTABLE" },
  ])(
    "that could be read only once is $outcome with $overlap repeated entries, and says so",
    async ({ overlap, outcome, reason }) => {
      const page = Array.from({ length: 9 }, (_, index) => `${index + 1}`);
      const reading = `${page.join(" ")} | ${page.slice(0, overlap).join(" ")}`;
      const world = new PagedWorld([reading], { readingSeconds: [60] });

      const { row, explanation } = await world.runWithin(149);

      expect(row).toMatchObject({ outcome, reason, events: 9, repeated: overlap });
      expect(explanation).toContain(
        `${overlap} entries of the list came on two pages, with no time or budget to read it again`,
      );
      expect(await world.plan()).toMatchObject({ readings: 1, unstable: overlap });
    },
  );

  test("is not read again by a start that resumes the run: its plan decides", async () => {
    const world = new PagedWorld(NEVER_AGREE);
    const isPlanned = (): boolean => world.small.store.keys(layout(ACCOUNT).runs).length > 0;

    const first = await world.run({ timeLeftMs: () => (isPlanned() ? 0 : 900 * SECOND_MS) });
    const next = await world.run();

    expect([first.row.error_code, first.row.repeated]).toEqual(["INTERRUPTED", 1]);
    expect(next.row).toMatchObject({ outcome: "HELD", reason: "LIST_UNSTABLE", repeated: 1 });
    expect(next.explanation).toContain("6 of 8 events are not in each of its 3 readings");
    expect(world.reads).toBe(3);
  });

  test("of which a further reading fails fails the run", async () => {
    const world = new PagedWorld(NEVER_AGREE.slice(0, 1));
    const broken = new SyncError("SERVICE_UNAVAILABLE", "The service does not answer.");
    let reads = 0;
    const list = () => (++reads === 1 ? world.list() : Promise.reject(broken));

    const { row } = await world.run(serviceWith(world.small.ports(), () => ({ list })));

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "SERVICE_UNAVAILABLE", listed: null });
    expect(world.small.store.keys(layout(ACCOUNT).runs)).toEqual([]);
  });
});

describe("pages that overlap alike in every reading", () => {
  const readTwice = async (changes: Partial<EventList> = {}) => {
    const world = new PagedWorld(["1 2 3 | 3 4 | 4 5", "1 2 3 | 3 4 | 4 5"]);
    const { clock } = world.small;
    const ports = { logger: new LogLines(), signal: new AbortController().signal, clock };
    return readList(
      { ports, timeBudget: { stop: () => undefined } },
      { counts: new ServiceCounts(), list: async () => ({ ...(await world.list()), ...changes }) },
    );
  };

  test("are a doubt, with the number, and hold nothing", async () => {
    expect(await readTwice()).toMatchObject({
      readings: 2,
      unstable: 0,
      doubt: { why: "overlap", entries: 2, places: [] },
    });
  });

  test("are none where as many distinct entries came as a page states", async () => {
    expect(await readTwice({ isTotalReached: true })).toMatchObject({ unstable: 0, doubt: undefined });
  });

  test("add nothing to a doubt of the list itself", async () => {
    const doubt = { why: "empty", entries: 7, places: [] } as const;

    expect(await readTwice({ doubt })).toMatchObject({ doubt });
  });
});

describe("a service whose pages shift with every request", () => {
  const EVENTS = 40;
  const PAGE = 4;

  async function shifting(settings: object = {}, limits: object = {}, speed = 100): Promise<Sandbox> {
    let requests = 0;
    const sandbox = await Sandbox.start(
      {
        events: makeEvents(EVENTS),
        limits,
        onRequest: ({ endpoint }) => {
          if (endpoint !== "list") return;
          requests += 1;
          sandbox.simulator.configure({ list: { pageSize: PAGE, shuffle: requests } });
        },
      },
      settings,
      acceleratedClock(speed),
    );
    return sandbox;
  }

  const listRequests = ({ simulator }: Sandbox): number =>
    simulator.requests.filter(({ endpoint }) => endpoint === "list").length;

  test("is read three times within the budget, and each request counts", async () => {
    const limits = { requestsPerWindow: 40, windowMs: 60_000 };
    await using sandbox = await shifting({ requestsPerMinute: 40 }, limits);

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "HELD", reason: "LIST_UNSTABLE" });
    expect(listRequests(sandbox)).toBe((3 * EVENTS) / PAGE);
    const { requests, fullestWindow, statuses } = sandbox.simulator.counts;
    expect(row.requests).toBe(requests);
    expect(fullestWindow.requests).toBeLessThanOrEqual(40);
    expect(statuses.get(429)).toBeUndefined();
  });

  test.each([
    { requestsPerMinute: 2, reads: 1 }, // 18 in ten minutes: a login and a reading, and not another one
    { requestsPerMinute: 3, reads: 2 },
    { requestsPerMinute: 4, reads: 3 },
  ])(
    "is read $reads times where waiting for a budget of $requestsPerMinute a minute is left to others",
    async ({ requestsPerMinute, reads }) => {
      await using sandbox = await shifting({ requestsPerMinute, windowMs: 600_000 }, {}, 400);
      const executions = new MemoryExecutions();

      const { row } = await sandbox.run({}, { executions, timeLeftMs: () => 900_000 });

      expect(row).toMatchObject({ outcome: "HANDED_OVER", reason: "BUDGET" });
      expect(listRequests(sandbox)).toBe((reads * EVENTS) / PAGE);
    },
  );

  test.each<{ name: string; command: (sandbox: Sandbox) => Promise<unknown> }>([
    { name: "check", command: (sandbox) => check(sandbox.ports(), sandbox.settings) },
    { name: "discover", command: (sandbox) => discover(sandbox.ports(), sandbox.settings, 5) },
    { name: "a dry run", command: (sandbox) => sandbox.run({ dryRun: { limit: undefined } }) },
  ])("is read once by $name, which warns", async ({ command }) => {
    await using sandbox = await shifting();

    const said = JSON.stringify([await command(sandbox), sandbox.log.lines]);

    expect(listRequests(sandbox)).toBe(EVENTS / PAGE);
    expect(said).toMatch(/\d+ entries of the list had come on a page before: [^"]* reads such a list again/);
  });

  test("has its repeated entries in the row of a dry run", async () => {
    await using sandbox = await shifting();

    const { row } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", reason: null });
    expect((row.events ?? 0) + (row.repeated ?? 0)).toBe(EVENTS);
  });
});

describe("a list of which the setting does not read all", () => {
  test("because it is none, and there is a next page, is warned of in each run", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(12), list: { pageSize: 10 } },
      { nextPage: "none" },
    );

    await sandbox.run();
    await sandbox.run();

    const said = sandbox.log.lines.filter((line) =>
      line.includes("names a next page, which the setting says not to ask for"),
    );
    expect(said).toHaveLength(2);
  });

  test("is not continued after the setting has changed", async () => {
    await using sandbox = await Sandbox.start({
      events: makeEvents(12),
      list: { pageSize: 10, next: "none" },
    });
    const stop = new AbortController();
    sandbox.simulator.configure({
      onRequest: ({ endpoint }) => {
        if (endpoint === "detail") stop.abort(new SyncError("INTERRUPTED", "stopped"));
      },
    });
    await sandbox.run({}, { signal: stop.signal });
    sandbox.simulator.configure({ onRequest: undefined });
    sandbox.settings = { ...sandbox.settings, nextPage: "page={page}" };

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 12 });
    expect(sandbox.log.lines.join("\n")).toContain("run without --next-page continues");
  });
});
