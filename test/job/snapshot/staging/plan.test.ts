import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import {
  createPlan,
  type PlanDraft,
  plannedTrigger,
  readPlan,
} from "../../../../lambdas/job/snapshot/staging/plan.ts";
import { said } from "../../../words/said.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";

const KEY = "runs/uk/2026-11-21T06-00-00.000Z/plan.ndjson.gz";

const DRAFT: PlanDraft = {
  trigger: "schedule",
  run_id: "2026-11-21T06-00-00.000Z",
  account: "uk",
  fingerprint: "f1",
  created_at: "2026-11-21T06:00:01.000Z",
  rejected: 1,
  repeated: 2,
  readings: 1,
  unstable: 0,
  events: [
    { uuid: "a1", requestAs: "A1", listing: '{"n":1.10,"t":"\u2028"}' },
    { uuid: "b2", requestAs: "b2", listing: "{}" },
    { uuid: "c3", requestAs: "c3", listing: '{"uuid":"c3"}' },
  ],
};
const [A, B, C] = DRAFT.events;

const HEADER = {
  version: 2,
  run_id: "2026-11-21T06-00-00.000Z",
  account: "uk",
  trigger: "schedule",
  fingerprint: "f1",
  created_at: "2026-11-21T06:00:01.000Z",
  listed: 4,
  rejected: 1,
  repeated: 2,
  readings: 1,
  unstable: 0,
  events: 3,
  // printf of the three lines below | sha256sum
  sha256: "11695f201238978e11252039dfd19a9bd7b40cc60e75df0b92100c5e0c463674",
};

const EVENT_LINES = [
  '{"uuid":"a1","requestAs":"A1","listing":"{\\"n\\":1.10,\\"t\\":\\"\\u2028\\"}"}',
  '{"uuid":"b2","listing":"{}"}',
  '{"uuid":"c3","listing":"{\\"uuid\\":\\"c3\\"}"}',
] as const;

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

const put = (header: unknown, ...lines: readonly string[]): void =>
  store.put(KEY, gzipSync([JSON.stringify(header), ...lines].map((line) => `${line}\n`).join("")));

describe("a plan", () => {
  it("is made piece by piece, so that requests go on meanwhile", async () => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const uuids = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(4, "0"));
    const events = uuids.map((uuid) => ({ uuid, requestAs: uuid, listing: "{}" }));

    await createPlan(store, KEY, { ...DRAFT, events });
    clearImmediate(next);

    expect(turns).toBeGreaterThanOrEqual(9);
    expect(turns).toBeLessThan(100);
  });

  it("is written sorted, its header first", async () => {
    await createPlan(store, KEY, DRAFT);

    const stored = await store.read(KEY);
    const lines = gunzipSync(stored?.bytes ?? "")
      .toString()
      .split("\n");
    expect(JSON.parse(lines[0] ?? "")).toEqual(HEADER);
    expect(lines.slice(1)).toEqual([...EVENT_LINES, ""]);
  });

  it("is read back as it was created", async () => {
    const created = await createPlan(store, KEY, DRAFT);
    const read = await readPlan(store, KEY);

    for (const plan of [created, read]) {
      expect(plan?.header).toEqual(HEADER);
      for (const _ of ["at first", "again"]) {
        expect([...(plan?.events(0) ?? [])]).toEqual([A, B, C]);
        expect([...(plan?.events(2) ?? [])]).toEqual([C]);
        expect([...(plan?.events(3) ?? [])]).toEqual([]);
      }
    }
  });

  it("is read back with what only some have: that it is a restart, and an entry that is too large", async () => {
    const restart = { ...HEADER, restart: true };
    const lines = [...EVENT_LINES.slice(0, 2), '{"uuid":"c3","listing":"","isOversize":true}'];
    const sha256 = createHash("sha256").update(lines.map((line) => `${line}\n`).join(""));
    put({ ...restart, sha256: sha256.digest("hex") }, ...lines);

    const plan = await readPlan(store, KEY);

    expect(plan?.header).toMatchObject({ restart: true });
    expect([...(plan?.events(2) ?? [])]).toMatchObject([{ uuid: "c3", isOversize: true }]);
  });

  it("gives its events from any place on, also where they are many", async () => {
    const uuids = Array.from({ length: 2_500 }, (_, n) => String(n).padStart(4, "0"));
    const events = uuids.map((uuid) => ({ uuid, requestAs: uuid, listing: "{}" }));

    const plan = await createPlan(store, KEY, { ...DRAFT, events });

    for (const place of [0, 1, 999, 1_000, 1_001, 2_000, 2_499, 2_500]) {
      expect(Array.from(plan.events(place), ({ uuid }) => uuid)).toEqual(uuids.slice(place));
    }
  });

  it("may be empty", async () => {
    await createPlan(store, KEY, { ...DRAFT, events: [] });

    const plan = await readPlan(store, KEY);
    expect(plan?.header).toMatchObject({ listed: 1, events: 0 });
    expect([...(plan?.events(0) ?? [])]).toEqual([]);
  });

  it("of another version of the program is not read", async () => {
    put({ ...HEADER, version: 1, shard_size: 2 }, ...EVENT_LINES);

    expect(await readPlan(store, KEY)).toBeUndefined();
  });

  it("that exists already is kept", async () => {
    await createPlan(store, KEY, DRAFT);

    const second = await createPlan(store, KEY, { ...DRAFT, fingerprint: "f2", events: [] });

    expect(second.header).toEqual(HEADER);
    expect([...second.events(0)]).toEqual([A, B, C]);
  });

  it.each([{ account: "us" }, { run_id: "2026-11-22T06-00-00.000Z" }])(
    "that was there first and is another run's (%o) is refused",
    async (other) => {
      await createPlan(store, KEY, { ...DRAFT, ...other });

      await expect(createPlan(store, KEY, DRAFT)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    },
  );

  it.each([
    ["has a uuid twice", [A, A]],
    ["is not sorted", [B, A]],
  ])("is not made of a draft that %s", async (_, events) => {
    const draft = { ...DRAFT, events: events.filter((event) => event !== undefined) };

    await expect(createPlan(store, KEY, draft)).rejects.toThrow("sorted, each uuid once");
    expect(store.keys()).toEqual([]);
  });
});

describe("what started a run", () => {
  const started = () => plannedTrigger(uk(store), DRAFT.run_id);

  it("is what the first line of its plan says, which is read alone", async () => {
    put(HEADER, "{");
    expect(await started()).toBe("schedule");

    put({ ...HEADER, trigger: "manual", trust_clock: true }, ...EVENT_LINES);
    expect(await started()).toBe("manual");
  });

  it.each([
    ["there is no plan", () => undefined],
    ["it is of another version", () => put({ ...HEADER, version: 1 })],
    ["it is damaged", () => put({ ...HEADER, events: -1 })],
    ["it is empty", () => store.put(KEY, gzipSync(""))],
  ])("is a person where %s", async (_, make) => {
    make();

    expect(await started()).toBe("manual");
  });
});

it("reads a plan whose header has a key that a newer version added", async () => {
  put({ ...HEADER, later: 1 }, ...EVENT_LINES);

  expect((await readPlan(store, KEY))?.header).toEqual(HEADER);
});

describe("a damaged plan", () => {
  const [a, b, c] = EVENT_LINES;

  const damages: readonly [string, string, () => void][] = [
    ["missing", "it is missing", () => undefined],
    ["no gzip", "gzip", () => store.put(KEY, "text")],
    ["empty", "it has no header", () => store.put(KEY, gzipSync(""))],
    ["no header", "version", () => store.put(KEY, gzipSync(`${a}\n`))],
    ["no JSON", "it holds a line that is not JSON", () => store.put(KEY, gzipSync("secret\n"))],
    ["no object", "a line: ", () => store.put(KEY, gzipSync("7\n"))],
    ["an event less", "number of events", () => put(HEADER, a, b)],
    ["an event more", "number of events", () => put(HEADER, a, b, c, '{"uuid":"d4","listing":"{}"}')],
    ["another listing", "checksum", () => put(HEADER, a, b, '{"uuid":"c3","listing":"{}"}')],
    ["another order", "checksum", () => put(HEADER, b, a, c)],
    ["counts that do not add up", "add up", () => put({ ...HEADER, listed: 5 }, a, b, c)],
    ["a line that is no event", "checksum", () => put(HEADER, a, b, '{"uuid":"secret"}')],
    ["a line that is no JSON", "checksum", () => put(HEADER, a, b, '{"uuid":"secret')],
  ];

  it.each(damages)("is refused by name with the remedy, unquoted: %s", async (_, problem, damage) => {
    damage();

    const error: unknown = await readPlan(store, KEY).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(problem),
      fields: { key: KEY },
    });
    expect(said(error)).toContain(
      "Delete the whole folder runs/uk/2026-11-21T06-00-00.000Z/ and start again.",
    );
    expect(String(error)).not.toContain("secret");
  });
});
