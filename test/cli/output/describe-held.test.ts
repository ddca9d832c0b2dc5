import { expect, test } from "vitest";
import { describeHeld } from "../../../bin/cli/output/describe-status.ts";
import { ifNotAccepted } from "../../../lambdas/job/run/publish/held-snapshots.ts";
import type { Preview } from "../../../lambdas/job/run/publish/preview.ts";

const RUN = "2026-11-21T06-00-00.000Z";
const HEAD = "2026-11-20T06-00-00.000Z";
const VALUES = { config: undefined, account: "uk", warehouse: "./warehouse", database: "brand_events" };
const DECIDE = [
  `look at it: npm run sync -- diff ${RUN} --account uk`,
  `publish it anyway: npm run sync -- accept ${RUN} --account uk`,
];
const WAIT = `or wait: ${ifNotAccepted(false)}`;

const NONE = { added: [], changed: [], removed: [], gone: [], forbidden: [], oversize: [], too_deep: [] };
const PREVIEW: Preview = {
  base_snapshot_id: HEAD,
  added: 1,
  changed: 0,
  removed: 1_412,
  gone: 0,
  forbidden: 2,
  rejected: 3,
  oversize: 1,
  too_deep: 0,
  uuids: { ...NONE, added: ["a"], removed: ["b", "c"], forbidden: ["d", "e"], oversize: ["f"] },
};
const held = (preview?: Preview, isPinned = false) => ({ snapshotId: RUN, preview, isPinned });

test("a held snapshot is described by what publishing it would do, the first uuids, and the commands", () => {
  expect(describeHeld(held(PREVIEW), HEAD, VALUES)).toEqual([
    `publishing it would add 1, change 0 and remove 1,412 events, compared with ${HEAD}, which readers see`,
    "  added, 1: a",
    "  removed, the first 2 of 1,412: b, c",
    "  missing because forbidden (403), 2: d, e",
    "  missing because too large, 1: f",
    "  missing because without a valid uuid, 2",
    ...DECIDE,
    WAIT,
  ]);
});

test.each([
  {
    what: "another head",
    preview: PREVIEW,
    head: "2026-11-20T09-00-00.000Z",
    says: "which readers saw then",
  },
  {
    what: "no head",
    preview: { ...PREVIEW, base_snapshot_id: null },
    head: null,
    says: "nothing was published before",
  },
  {
    what: "a damaged head",
    preview: { ...PREVIEW, added: null, changed: null, removed: null },
    head: HEAD,
    says: "is not known, because a file is damaged (check --deep names it)",
  },
])("says what is compared with $what", ({ preview, head, says }) => {
  expect(describeHeld(held(preview), head, VALUES)[0]).toContain(says);
});

test("what an earlier version has held has its commands alone", () => {
  expect(describeHeld(held(), HEAD, VALUES)).toEqual([...DECIDE, WAIT]);
});

test("waiting changes nothing while the account is pinned", () => {
  expect(describeHeld(held(PREVIEW, true), HEAD, VALUES).at(-1)).toBe(`or wait: ${ifNotAccepted(true)}`);
});
