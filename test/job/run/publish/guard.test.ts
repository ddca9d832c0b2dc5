import { describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { guard } from "../../../../lambdas/job/run/publish/guard.ts";
import { readHold } from "../../../../lambdas/job/run/record/held-mark.ts";
import { PREVIEW } from "../../../sync/rows.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";

const INCOMPLETE = { events: 0, fields: [] };
const READ_ONCE = { readings: 1, unstable: 0 };
const NONE_MISSING = {
  ...{ gone: 0, forbidden: 0, rejected: 0, oversize: 0, too_deep: 0, accepted: undefined },
  incomplete: INCOMPLETE,
  ...READ_ONCE,
};
const limits = { maxDropPercent: 20, maxMissingPercent: 1 };

describe("the guard", () => {
  test.each([
    { listed: 0, events: 0, missing: 0, headEvents: undefined, expected: "NO_EVENTS" },
    { listed: 3, events: 0, missing: 3, headEvents: undefined, expected: "NO_EVENTS" },
    { listed: 1, events: 1, missing: 0, headEvents: undefined, expected: "published" },
    { listed: 80, events: 80, missing: 0, headEvents: 100, expected: "published" },
    { listed: 79, events: 79, missing: 0, headEvents: 100, expected: "DROPPED" },
    { listed: 500, events: 500, missing: 0, headEvents: 100, expected: "published" },
    { listed: 10, events: 8, missing: 2, headEvents: undefined, expected: "published" },
    { listed: 10, events: 7, missing: 3, headEvents: undefined, expected: "FEW_ROWS" },
    { listed: 100, events: 95, missing: 5, headEvents: undefined, expected: "published" },
    { listed: 100, events: 94, missing: 6, headEvents: undefined, expected: "MISSING" },
    { listed: 1000, events: 990, missing: 10, headEvents: 1000, expected: "published" },
    { listed: 1000, events: 989, missing: 11, headEvents: 1000, expected: "MISSING" },
  ])("says $expected to $events of $listed listed, $missing missing, after $headEvents", (counts) => {
    const hold = guard({ ...NONE_MISSING, ...counts, gone: counts.missing }, limits);

    expect(hold?.reason ?? "published").toBe(counts.expected);
  });

  test.each([
    { gone: 0, forbidden: 60, rejected: 0, expected: "published" },
    { gone: 0, forbidden: 65, rejected: 0, expected: "published" },
    { gone: 0, forbidden: 71, rejected: 0, expected: "MISSING" },
    { gone: 11, forbidden: 60, rejected: 0, expected: "MISSING" },
    { gone: 5, forbidden: 65, rejected: 0, expected: "published" },
    { gone: 11, forbidden: 0, rejected: 0, expected: "MISSING" },
    { gone: 0, forbidden: 60, rejected: 11, expected: "MISSING" },
    { gone: 200, forbidden: 60, rejected: 0, expected: "MISSING" },
    { gone: 0, forbidden: 260, rejected: 0, expected: "MISSING" },
    { gone: 0, forbidden: 261, rejected: 0, expected: "FEW_ROWS" },
  ])(
    "says $expected to $forbidden forbidden, $gone gone and $rejected rejected of 1000 where a person accepted 30 forbidden of 500",
    ({ expected, ...missing }) => {
      const events = 1000 - missing.gone - missing.forbidden - missing.rejected;
      const accepted = { listed: 500, gone: 0, forbidden: 30, rejected: 0 };

      const hold = guard(
        { ...NONE_MISSING, ...missing, accepted, listed: 1000, events, headEvents: undefined },
        limits,
      );

      expect(hold?.reason ?? "published").toBe(expected);
    },
  );

  test("is not blinded by an accepted snapshot of an empty list", () => {
    const accepted = { listed: 0, gone: 0, forbidden: 0, rejected: 0 };
    const counts = { ...NONE_MISSING, gone: 11, accepted, listed: 1000, events: 989, headEvents: 1000 };

    expect(guard(counts, limits)?.reason).toBe("MISSING");
  });

  const lacking = (events: number) => ({ incomplete: { events, fields: [{ pointer: "/date", events }] } });
  const ofList = (unstable: number) => ({ readings: 3, unstable });

  test.each<{ events: number; headEvents?: number; more: object; expected: string }>([
    { headEvents: 100, events: 150, more: { maxGrowthPercent: 50 }, expected: "published" },
    { headEvents: 100, events: 151, more: { maxGrowthPercent: 50 }, expected: "GREW" },
    { headEvents: 100, events: 100, more: { maxGrowthPercent: 0 }, expected: "published" },
    { headEvents: 100, events: 101, more: { maxGrowthPercent: 0 }, expected: "GREW" },
    { headEvents: 100, events: 350, more: { maxGrowthPercent: 250 }, expected: "published" },
    { headEvents: 0, events: 1, more: { maxGrowthPercent: 1000 }, expected: "GREW" },
    { events: 100, more: { maxGrowthPercent: 0 }, expected: "published" },
    { headEvents: 100, events: 1_000_000, more: {}, expected: "published" },
    { events: 6, more: lacking(5), expected: "published" },
    { events: 6, more: lacking(6), expected: "REQUIRED" },
    { events: 1000, more: lacking(10), expected: "published" },
    { events: 1000, more: lacking(11), expected: "REQUIRED" },
    { events: 1000, more: { ...lacking(1000), maxMissingPercent: 100 }, expected: "published" },
    { headEvents: 100, events: 50, more: ofList(5), expected: "DROPPED" },
    { headEvents: 100, events: 50, more: ofList(6), expected: "LIST_UNSTABLE" },
    { headEvents: 100, events: 60, more: { maxDropPercent: 40 }, expected: "published" },
    { headEvents: 100, events: 60, more: { maxDropPercent: 39.9 }, expected: "DROPPED" },
  ])("says $expected to $events events after $headEvents with $more", (one) => {
    const { events, headEvents, more, expected } = one;
    const counts = { ...NONE_MISSING, listed: events, events, headEvents, ...more };

    expect(guard(counts, { ...limits, ...more })?.reason ?? "published").toBe(expected);
  });

  const newly = (count: number) => Array.from({ length: count }, (_, n) => `u${n}`);
  const listed = { listed: 1_000, events: 990, rejected: 10, headEvents: undefined };
  test.each([
    ["no event is unreadable", { unreadable: 0 }, "published"],
    ["one is", { unreadable: 1, newlyUnreadable: newly(1) }, "UNREADABLE"],
    ["one is, which the head leaves out", { unreadable: 1 }, "published"],
    [
      "those that the head leaves out are more than may be missing",
      { rejected: 60, unreadable: 55 },
      "published",
    ],
    ["others beside them are more than may be missing", { rejected: 60, unreadable: 49 }, "MISSING"],
    [
      "more of them are new than may be missing",
      { rejected: 11, unreadable: 11, newlyUnreadable: newly(11) },
      "MISSING",
    ],
  ])("where %s is: %j, %s", (_, counts, expected) => {
    expect(guard({ ...NONE_MISSING, ...listed, ...counts }, limits)?.reason ?? "published").toBe(expected);
  });

  test("holds what was asked for once only, because fewer had been accepted then", () => {
    const counts = { ...NONE_MISSING, listed: 100, events: 95, gone: 5, headEvents: undefined };

    const hold = guard({ ...counts, isUnconfirmed: true }, limits);

    expect(hold).toMatchObject({ reason: "MISSING", listed: 100, missing: { gone: 5 } });
    expect(hold).not.toHaveProperty("most");
  });
});

describe("the mark of a held snapshot", () => {
  const RUN = "2026-11-21T06-00-00.000Z";

  test.each([
    ["MISSING", "MISSING"],
    ["UNREADABLE", "UNREADABLE"],
    ["LATER_REASON", "OTHER"],
  ])("with the reason %s is read as %s", async (reason, read) => {
    const store = new MemoryStore();
    const mark = { reason, explanation: "why", held_at: "2026-11-21T06:00:00.000Z" };
    store.put(`snapshots/uk/${RUN}/_held.json`, JSON.stringify(mark));

    expect(await readHold(uk(store), RUN)).toMatchObject({
      reason: read,
      explanation: "why",
    });
  });

  test("says that the head was pinned, and what was lost with a damaged one", async () => {
    const store = new MemoryStore();
    const key = `snapshots/uk/${RUN}/_held.json`;
    const preview = { ...PREVIEW, pinned: true };
    const mark = { reason: "MISSING", explanation: "why", held_at: "2026-11-21T06:00:00.000Z", preview };
    store.put(key, JSON.stringify(mark));
    const pinned = await readHold(uk(store), RUN);
    store.put(key, "{");

    const damaged = await readHold(uk(store), RUN);

    expect(pinned?.preview).toMatchObject({ pinned: true });
    expect(damaged).toMatchObject({ reason: "MARK_DAMAGED" });
  });

  test("is not taken for damaged where the store fails", async () => {
    const store = new MemoryStore();
    store.read = () => Promise.reject(new SyncError("STORE_FAILED", "too busy"));

    await expect(readHold(uk(store), RUN)).rejects.toMatchObject({ code: "STORE_FAILED" });
  });
});
