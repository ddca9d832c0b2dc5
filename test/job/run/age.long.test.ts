// What a call costs does not grow with the age of the warehouse: requests are counted in a young and an old one.

import { describe, expect, test } from "vitest";
import { findDamage } from "../../../lambdas/job/commands/check.ts";
import { type Age, KINDS, NONE, type Requests, requestsAt } from "./age.ts";
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

/** In US dollars, in the region us-east-1. Of Glue the first million a month is free. */
const PRICES = { put: 0.005 / 1_000, list: 0.005 / 1_000, get: 0.0004 / 1_000, glue: 1 / 1_000_000 };
const FREE_OF_GLUE = 1_000_000;

const DAYS_A_MONTH = 30;
const DAYS_A_YEAR = 365;

describe("after a year", () => {
  /** US dollars a month, for requests, of the runs of each account. */
  async function monthlyCosts(runsADay: number): Promise<(accounts: number) => number> {
    const age = { ...SELDOM, place: "S3 and Glue" } as const;
    const young = await requestsAt({ ...age, publications: 200 });
    const old = await requestsAt({ ...age, publications: 2_000 });
    const [run = NONE, first = NONE] = [old["run"], old["a first run of a later day"]];
    const listsAPublication = (first.list - (young["a first run of a later day"]?.list ?? 0)) / (2_000 - 200);
    const lists = (DAYS_A_YEAR * runsADay - 2_000) * listsAPublication;
    // Twice the runs are one number more to try.
    const doublings = Math.log2((DAYS_A_YEAR * runsADay) / 2_000);
    const aDay = (kind: keyof Requests): number =>
      first[kind] + (runsADay - 1) * run[kind] + (kind === "get" ? 4 * doublings * runsADay : 0);
    const s3 = (["put", "list", "get"] as const).map((kind) => aDay(kind) * PRICES[kind]);
    const dollarsADay = s3.reduce((sum, each) => sum + each, lists * PRICES.list);
    return (accounts) => {
      const glue = Math.max(0, accounts * DAYS_A_MONTH * aDay("glue") - FREE_OF_GLUE) * PRICES.glue;
      return Math.round(100 * (accounts * DAYS_A_MONTH * dollarsADay + glue)) / 100;
    };
  }

  test.each([
    ["an hour", 24, 0.14, 6.53],
    ["a quarter of an hour", 96, 0.55, 28.52],
  ])(
    "a run each %s costs so much a month for the requests of one account and of 48",
    async (_, runsADay, ofOne, ofMany) => {
      const costs = await monthlyCosts(runsADay);

      for (const [cost, expected] of [
        [costs(1), ofOne],
        [costs(48), ofMany],
      ] as const)
        expect(Math.abs(cost - expected) / expected).toBeLessThan(0.1);
    },
  );
});

test("the old warehouse of these tests is whole", async () => {
  const world = new SmallWorld();
  const age = { publications: 30, stepMs: HOUR_MS, endMs: world.clock.now(), heldAfter: 3 };
  await fillWarehouse(world.own, age);

  expect(await findDamage(world.ports(), true)).toEqual([]);
});
