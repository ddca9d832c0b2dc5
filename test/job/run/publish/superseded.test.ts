// What is later than a run: by name, unless it was there when the run was planned.

import { describe, expect, test } from "vitest";
import {
  removedBy,
  supersededBeforePlan,
  supersededBy,
} from "../../../../lambdas/job/run/publish/superseded.ts";

const NAME = "2026-01-03T00-00-00.000Z";
const head = {
  publication: "0000000002",
  action: "run",
  snapshot_id: NAME,
  base_snapshot_id: null,
  published_at: "2026-01-03T00:00:00.000Z",
  ...{ events: 1, added: 1, changed: 0, removed: 0 },
  run_id: NAME,
  pinned: false,
  write_id: "1",
} as const;
const removal = { ...head, action: "remove", snapshot_id: null } as const;
const [EARLIER, LATER] = ["2026-01-02T00-00-00.000Z", "2026-01-03T00-00-00.001Z"];

test.each([
  { id: EARLIER, place: undefined, isSuperseded: true },
  { id: EARLIER, place: "", isSuperseded: true },
  { id: EARLIER, place: "0000000001", isSuperseded: true },
  { id: EARLIER, place: "0000000002", isSuperseded: false },
  { id: EARLIER, place: "0000000003", isSuperseded: false },
  { id: NAME, place: "0000000001", isSuperseded: true },
  { id: LATER, place: "0000000001", isSuperseded: false },
  { id: LATER, place: undefined, isSuperseded: false },
])("a run $id that was planned behind $place is superseded: $isSuperseded", ({ id, place, isSuperseded }) => {
  expect(supersededBy(head, { id, place })).toEqual(
    isSuperseded
      ? {
          outcome: "SUPERSEDED",
          reason: "LATER_HEAD",
          explanation: `Readers already see the snapshot ${NAME}, which is later than this run (${id}).`,
        }
      : undefined,
  );
});

test("a removal says when it was", () => {
  expect(removedBy(removal, EARLIER).explanation).toBe(
    `The account was removed at ${NAME}, which is later than this run (${EARLIER}).`,
  );
});

describe("a run without a plan", () => {
  const MINUTE_MS = 60_000;
  const atMs = Date.UTC(2026, 0, 3);

  test.each([
    { what: "a head", end: { head, removal: undefined }, minutes: 0, ends: true },
    { what: "a head", end: { head, removal: undefined }, minutes: 9, ends: true },
    { what: "a head", end: { head, removal: undefined }, minutes: 11, ends: false },
    { what: "a removal", end: { head: undefined, removal }, minutes: 9, ends: true },
    { what: "a removal", end: { head: undefined, removal }, minutes: 11, ends: false },
    { what: "no entry", end: { head: undefined, removal: undefined }, minutes: 0, ends: false },
  ])(
    "over which $what lies that is named $minutes minutes from now ends: $ends",
    ({ end, minutes, ends }) => {
      const found = supersededBeforePlan(end, EARLIER, atMs - minutes * MINUTE_MS);

      expect(found?.outcome).toBe(ends ? "SUPERSEDED" : undefined);
    },
  );
});
