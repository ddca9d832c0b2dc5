// What a call costs does not grow with the age of the warehouse: requests are counted in a young and an old one.

import { describe, expect, test } from "vitest";
import { checkEverything } from "../../../lambdas/job/commands/check.ts";
import { type Age, KINDS, type Requests, requestsAt } from "./age.ts";
import { fillWarehouse } from "./old-warehouse.ts";
import { HOUR_MS, SmallWorld } from "./small-world.ts";

const PLACES = ["S3 and Glue", "a directory"] as const;
const KEYS_A_LIST = 1_000;

/** What grows with the logarithm, one number more to try for each doubling; and what young warehouses have less of. */
const MOST_MORE = 20;

/** So many lists more for so many keys of an old warehouse, once a day or where a decision is about something old. */
const listsOf = (keys: number): number => Math.ceil(keys / KEYS_A_LIST);

/** The snapshots are listed twice, their changes and the log once. */
const KEYS_A_PUBLICATION = 2 * 2 + 2;

function expectAlike(
  young: Readonly<Record<string, Requests>>,
  old: Readonly<Record<string, Requests>>,
  publications: number,
): void {
  for (const [what, requests] of Object.entries(old)) {
    const isListing = what.includes("day") || what.includes("long ago");
    for (const kind of KINDS) {
      const more = kind === "list" && isListing ? listsOf(KEYS_A_PUBLICATION * publications) : 0;
      const difference = Math.abs(requests[kind] - (young[what]?.[kind] ?? 0));
      expect(difference, `${kind} of ${what}`).toBeLessThan(MOST_MORE + more);
    }
  }
}

/** Of both, what was held long ago was so for more than 30 days. */
const SELDOM = { accounts: 1, stepMs: 6 * HOUR_MS, checks: false } as const;

describe.each(PLACES)("in %s", (place) => {
  test.each<[string, Partial<Age>]>([
    ["all snapshots are kept", {}],
    ["snapshots are kept for three days", { retainDays: 3 }],
  ])("a call sends as many requests with 2,000 publications as with 200 where %s", async (_, kept) => {
    const age = { ...SELDOM, place, ...kept };

    const young = await requestsAt({ ...age, publications: 200 });
    const old = await requestsAt({ ...age, publications: 2_000 });

    expectAlike(young, old, 2_000);
  });

  test("beside 47 other accounts it sends as many with 64 publications of each as with 16", async () => {
    const age = { ...SELDOM, accounts: 48, place };

    const young = await requestsAt({ ...age, publications: 16 });
    const old = await requestsAt({ ...age, publications: 64 });

    expectAlike(young, old, 64);
  });
});

test("the old warehouse of these tests is whole", async () => {
  const world = new SmallWorld();
  const age = { publications: 30, stepMs: HOUR_MS, endMs: world.clock.now(), heldAfter: 3 };
  await fillWarehouse(world.own, age);

  expect(await checkEverything(world.ports())).toEqual([]);
});
