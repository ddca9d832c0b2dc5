import { expect, test } from "vitest";
import { type FaultMatch, FaultPlan } from "./faults.ts";
import type { Endpoint } from "./service-request.ts";
import { makeEvents } from "./simulated-event.ts";

interface Asked {
  readonly endpoint: Endpoint;
  readonly uuid?: string;
}

const A: Asked = { endpoint: "detail", uuid: "a" };
const B: Asked = { endpoint: "detail", uuid: "b" };
const LIST: Asked = { endpoint: "list" };
const LOGIN: Asked = { endpoint: "login" };

const REQUESTS = [LOGIN, LIST, A, B, A, B, A];

const CASES: readonly (readonly [title: string, match: FaultMatch, hit: readonly number[]])[] = [
  ["with nothing named: the first request", {}, [0]],
  ["of one endpoint: its first", { path: "detail" }, [2]],
  ["of one event: its first", { uuid: "b" }, [3]],
  ["of some events: their first", { uuids: new Set(["b", "c"]) }, [3]],
  ["from the nth on", { path: "detail", nth: 2 }, [3]],
  ["several times in a row", { path: "detail", nth: 2, times: 3 }, [3, 4, 5]],
  ["for ever", { path: "detail", nth: 4, times: Infinity }, [5, 6]],
  ["of every event by itself", { path: "detail", each: true }, [2, 3]],
  [
    "of every event by itself, from its second on",
    { path: "detail", each: true, nth: 2, times: 9 },
    [4, 5, 6],
  ],
  ["that never comes", { path: "other" }, []],
  ["for so long, a request each millisecond", { path: "detail", times: Infinity, forMs: 3 }, [2, 3, 4]],
];

test.each(CASES)("a rule hits, %s", (_, match, hit) => {
  const plan = new FaultPlan([{ match, fault: { kind: "reset" } }]);

  const hits = REQUESTS.flatMap((request, index) => (plan.next(request, index) === undefined ? [] : [index]));

  expect(hits).toEqual(hit);
});

test("the first rule that hits wins, and the other rules count the request anyway", () => {
  const plan = new FaultPlan([
    { match: { path: "detail" }, fault: { kind: "reset" } },
    { match: { path: "detail", nth: 2 }, fault: { kind: "hang" } },
    { match: { path: "detail", nth: 2 }, fault: { kind: "html" } },
  ]);

  const kinds = [A, B, A].map((request) => plan.next(request, 0)?.kind);

  expect(kinds).toEqual(["reset", "hang", undefined]);
});

test("a rule hits a share of the events, always the same ones, spread over all of them", () => {
  const match: FaultMatch = { path: "detail", share: 0.1, each: true, times: Infinity };
  const sorted = makeEvents(1_000)
    .map(({ uuid }) => uuid)
    .toSorted();
  const placesHit = (): readonly number[] => {
    const plan = new FaultPlan([{ match, fault: { kind: "reset" } }]);
    return sorted.flatMap((uuid, place) => (plan.next({ endpoint: "detail", uuid }, 0) ? [place] : []));
  };

  const places = placesHit();

  expect(placesHit()).toEqual(places);
  expect(Math.abs(places.length - 100)).toBeLessThan(30);
  for (const tenth of Array(10).keys())
    expect(places.some((place) => Math.floor(place / 100) === tenth)).toBe(true);
});
