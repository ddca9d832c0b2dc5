import { describe, expect, test } from "vitest";
import { type ErrorCode, SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { fieldsChangedEvent, runEvent } from "../../../../lambdas/job/run/record/run-event.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
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

const WAIT =
  "Readers keep what they see. The next run makes a new snapshot, and publishes it unless that one has to be held too. This one is retired after 30 days.";

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
    wait: "Readers keep what they see. Later runs are held too, until a snapshot is accepted. This one is retired after 30 days.",
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

/** EventBridge counts the detail and what is around it. */
const MOST_BYTES = 256 * 1024;

const publication: Publication = {
  publication: "0000000002",
  action: "run",
  snapshot_id: "2026-11-21T06-00-00.000Z",
  base_snapshot_id: "2026-11-20T06-00-00.000Z",
  published_at: "2026-11-21T06:01:00.000Z",
  events: 1_000,
  added: 0,
  changed: 1_000,
  removed: 0,
  run_id: "2026-11-21T06-00-00.000Z",
  pinned: false,
  write_id: "w",
};

/** Keys of a word are shown, so a pointer of many is long. */
const fields = (prefix: string) =>
  Array.from({ length: 10_000 }, (_, index) => ({
    pointer: `/${prefix}${"/field".repeat(30)}/n${index}`,
    count: 1,
    types: { string: 1, null: 1 },
  }));

test("an event about very many fields is small enough, with the count of all of them", () => {
  const retyped = fields("retyped").map(({ pointer }) => ({
    pointer,
    count: 1,
    before: ["string"] as const,
    after: ["number", "null"] as const,
  }));

  const event = fieldsChangedEvent("uk", PUBLISHED, publication, {
    added: fields("new"),
    gone: fields("gone"),
    retyped,
  });

  const text = JSON.stringify(event);
  expect(Buffer.byteLength(text)).toBeLessThan(MOST_BYTES - 10_000);
  const { new: added, gone, changed_type: types } = JSON.parse(text).detail;
  for (const kind of [added, gone, types]) {
    expect(kind.count).toBe(10_000);
    expect(kind.fields.length).toBeGreaterThan(100);
    expect(kind.fields.length).toBeLessThan(10_000);
  }
  expect(added.fields[0]).toEqual({
    pointer: expect.stringMatching(/\/n0$/),
    types: expect.any(Array),
    times: 1,
  });
});

test("an event names fields that read alike once, and first those that most events have", () => {
  const keys = ["/metrics/1", "/metrics/2"].map((pointer) => ({ pointer, count: 3, types: { number: 3 } }));
  const region = { pointer: "/region", count: 9, types: { string: 9 } };
  const retyped = keys.map(({ pointer, count }) => ({
    ...{ pointer, count },
    ...({ before: ["null"], after: ["number"] } as const),
  }));

  const event = fieldsChangedEvent("uk", PUBLISHED, publication, {
    added: [],
    gone: [...keys, region],
    retyped,
  });

  expect(event?.detail).toMatchObject({
    new: { count: 0, fields: [] },
    gone: {
      count: 3,
      fields: [
        { pointer: "/region", types: ["string"], times: 1 },
        { pointer: "/metrics/<key>", types: ["number"], times: 2 },
      ],
    },
    changed_type: {
      count: 2,
      fields: [{ pointer: "/metrics/<key>", before: ["null"], after: ["number"], times: 2 }],
    },
  });
});

test("nothing has changed: there is no event", () => {
  const changes = { added: [], gone: [], retyped: [] };

  expect(fieldsChangedEvent("uk", PUBLISHED, publication, changes)).toBeUndefined();
});
