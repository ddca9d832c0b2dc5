import { expect, test } from "vitest";
import { fieldsChangedEvent } from "../../../../lambdas/job/run/record/run-event.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { PUBLISHED } from "../../../sync/rows.ts";

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
