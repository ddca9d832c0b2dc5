import { describe, expect, test } from "vitest";
import { type ErrorCode, SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { runEvent } from "../../../../lambdas/job/run/record/run-event.ts";
import { FAILED, HELD, PREVIEW, PUBLISHED, SKIPPED } from "../../../sync/rows.ts";

const RUN = "2026-11-21T06-00-00.000Z";
const ABOUT = { account: "uk", run_id: RUN, trigger: "schedule" };

test("the event of a publication has its number and its counts", () => {
  expect(runEvent("uk", { row: PUBLISHED }, "0000000007")).toEqual({
    detailType: "Snapshot Published",
    detail: {
      ...ABOUT,
      snapshot_id: RUN,
      publication: "0000000007",
      listed: 1_007,
      events: 1_000,
      added: 3,
      changed: 2,
      removed: 1,
      left_out: 7,
      explanation: null,
    },
  });
});

const WAIT = "The next run makes and judges another one.";

test("the event of a held snapshot has its reason, what publishing it would do, and how to decide", () => {
  const commandsOf = (id: string) => ({ accept: `accept ${id}`, diff: `diff ${id}` });

  const event = runEvent(
    "uk",
    { row: HELD, explanation: "too few", preview: PREVIEW },
    undefined,
    commandsOf,
  );

  expect(event).toEqual({
    detailType: "Snapshot Held",
    detail: {
      ...ABOUT,
      snapshot_id: RUN,
      listed: 1_007,
      events: 1_000,
      left_out: 7,
      reason: "DROPPED",
      explanation: "too few",
      ...PREVIEW,
      accept_command: `accept ${RUN}`,
      diff_command: `diff ${RUN}`,
      wait: WAIT,
    },
  });
});

test("what an earlier version has held has the same keys, and null for what is not known", () => {
  const known = runEvent("uk", { row: HELD, preview: PREVIEW }, undefined)?.detail ?? {};
  const event = runEvent("uk", { row: { ...HELD, reason: "PINNED" } }, undefined);

  expect(Object.keys(event?.detail ?? {}).sort()).toEqual(Object.keys(known).sort());
  expect(event?.detail).toMatchObject({
    base_snapshot_id: null,
    added: null,
    removed: null,
    gone: 4,
    forbidden: 2,
    accept_command: null,
    wait: "Later runs are held too, until you accept one.",
  });
});

describe("a failed run", () => {
  test.each([
    { code: "LOGIN_REFUSED", finished: true },
    { code: "SERVICE_UNAVAILABLE", finished: false },
  ] as const)(
    "has an event with its code $code, and whether it is finished: $finished",
    ({ code, finished }) => {
      const error = new SyncError(code satisfies ErrorCode, "what to do");
      const row = { ...FAILED, error_code: code, error_message: "what to do" };

      expect(runEvent("uk", { row, error }, undefined)).toEqual({
        detailType: "Run Failed",
        detail: {
          ...ABOUT,
          snapshot_id: null,
          attempt: 1,
          error_code: code,
          error_message: "what to do",
          finished,
        },
      });
    },
  );
});

test("an abandoned run is not finished, whatever ended its execution", () => {
  const error = new SyncError("CONFIG_INVALID", "what to do");

  expect(runEvent("uk", { row: FAILED, error, isAbandoned: true }, undefined)?.detail).toMatchObject({
    finished: false,
  });
});

test("a run that another version has planned is announced as failed: no later start resumes it", () => {
  const row = { ...SKIPPED, reason: "OTHER_VERSION" };

  expect(runEvent("uk", { row, explanation: "Start a new run." }, undefined)).toMatchObject({
    detailType: "Run Failed",
    detail: { run_id: row.run_id, error_code: null, error_message: "Start a new run.", finished: true },
  });
});

test.each([
  { what: "a skipped start", row: SKIPPED },
  { what: "a dry run", row: { ...PUBLISHED, outcome: "DRY_RUN" } as const },
  { what: "a run that is handed over", row: { ...PUBLISHED, outcome: "HANDED_OVER" } as const },
  { what: "a run that came too late", row: { ...PUBLISHED, outcome: "SUPERSEDED" } as const },
  { what: "a failed accept", row: { ...FAILED, trigger: "accept" } as const },
])("$what has no event", ({ row }) => {
  expect(runEvent("uk", { row }, undefined)).toBeUndefined();
});
