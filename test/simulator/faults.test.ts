import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { afterEach, describe, expect, test } from "vitest";
import { basic, get } from "./browser.ts";
import { type Fault, type FaultMatch, FaultPlan } from "./faults.ts";
import { ManualClock } from "./manual-clock.ts";
import type { Endpoint } from "./service-request.ts";
import type { SimulatorOptions } from "./settings.ts";
import { makeEvents, type SimulatedEvent } from "./simulated-event.ts";
import { Simulator } from "./simulator.ts";

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

const event = (uuid: string): SimulatedEvent => ({
  uuid,
  source: `{"uuid":"${uuid}","text":"${"x".repeat(9_978)}"}`,
  listing: `{"uuid":"${uuid}"}`,
  listed: true,
  archived: false,
});

/** Undefined until a test starts one. */
let simulator: Simulator;
afterEach(() => simulator?.stop());

const start = async (options: SimulatorOptions): Promise<void> => {
  simulator = await Simulator.start({
    events: [event("a"), event("b")],
    detail: { shape: "bare" },
    ...options,
  });
};

const startWith = (fault: Fault): Promise<void> => start({ faults: [{ match: { path: "detail" }, fault }] });

/** The code of the error that undici gives as the reason why a fetch or its body failed. */
const reason = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? cause.code : error;
};

describe("faults in the response", () => {
  test.each<[string, Fault, number, string]>([
    [
      "a status",
      { kind: "status", status: 503 },
      503,
      '{"message":"Something went wrong.","reference":"canary-body"}',
    ],
    ["a status with a body", { kind: "status", status: 418, body: "tea" }, 418, "tea"],
    [
      "a page for people",
      { kind: "html" },
      200,
      "<!doctype html><title>Please wait</title><p>canary-body</p>",
    ],
    ["a body", { kind: "body", text: "[1," }, 200, "[1,"],
    ["another event", { kind: "wrong-uuid" }, 200, event("b").source],
    ["the end of sessions, which Basic does not mind", { kind: "end-sessions" }, 200, event("a").source],
  ])("%s comes in place of the event, and the next response is right", async (_, fault, status, body) => {
    await startWith(fault);

    const wrong = await get(simulator, "/v1/events/a");
    const right = await get(simulator, "/v1/events/a");

    expect([wrong.status, await wrong.text()]).toEqual([status, body]);
    expect([right.status, await right.text()]).toEqual([200, event("a").source]);
    expect(simulator.counts.faults).toBe(1);
  });

  test("a body may be bytes that are no text", async () => {
    await startWith({ kind: "body", text: Buffer.from([0x7b, 0xff, 0x7d]) });

    const response = await get(simulator, "/v1/events/a");

    expect([...(await response.bytes())]).toEqual([0x7b, 0xff, 0x7d]);
  });

  test("a redirect says where to, and headers come as configured", async () => {
    await start({
      faults: [
        { match: {}, fault: { kind: "redirect", location: "https://elsewhere.test/x", status: 307 } },
        { match: { nth: 2 }, fault: { kind: "status", status: 500, headers: { "retry-after": "7" } } },
      ],
    });

    const redirect = await get(simulator, "/v1/events/a");
    const failure = await get(simulator, "/v1/events/a");

    expect([redirect.status, redirect.headers.get("location")]).toEqual([307, "https://elsewhere.test/x"]);
    expect([failure.status, failure.headers.get("retry-after")]).toEqual([500, "7"]);
  });
});

describe("faults on the way", () => {
  test("a reset comes before any byte", async () => {
    await startWith({ kind: "reset" });

    expect(await reason(get(simulator, "/v1/events/a"))).toBe("ECONNRESET");
    expect(simulator.counts.statuses.size).toBe(0);
    expect(simulator.counts.bytes).toBe(0);
  });

  test.each<[Fault["kind"], Fault, string]>([
    ["reset-mid-body", { kind: "reset-mid-body" }, "ECONNRESET"],
    ["truncate", { kind: "truncate" }, "UND_ERR_SOCKET"],
  ])(
    "%s comes after the head and half of the body, and counts as the whole of it",
    async (_, fault, code) => {
      await startWith(fault);

      const response = await get(simulator, "/v1/events/a");

      expect(response.headers.get("content-length")).toBe("10000");
      expect(await reason(response.text())).toBe(code);
      expect(simulator.counts.bytes).toBe(10_000);
    },
  );

  test("a cut body looks whole to HTTP", async () => {
    await startWith({ kind: "cut" });

    const response = await get(simulator, "/v1/events/a");

    expect(response.headers.get("content-length")).toBe("5000");
    expect(await response.text()).toBe(event("a").source.slice(0, 5_000));
  });

  test("a cut body that is compressed cannot be unpacked", async () => {
    await start({ encoding: "gzip", faults: [{ match: { path: "detail" }, fault: { kind: "cut" } }] });

    // Not `fetch`: it takes what it can unpack of a cut body, and says nothing.
    const { body } = await request(`${simulator.url}/v1/events/a`, {
      headers: { authorization: basic(simulator.credentials), "accept-encoding": "gzip" },
    });
    const packed = await body.bytes();

    expect(() => gunzipSync(packed)).toThrow(expect.objectContaining({ code: "Z_BUF_ERROR" }));
  });

  test("a slow body comes in pieces, each after its pause", async () => {
    const clock = new ManualClock(0);
    await start({ clock, faults: [{ match: {}, fault: { kind: "slow-body", pauseMs: 10_000, pieces: 3 } }] });
    const response = get(simulator, "/v1/events/a").then((response) => response.text());
    const pauses: number[] = [];

    for (let pause = 1; pause <= 3; pause += 1) {
      await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(1);
      pauses.push(clock.now());
      clock.advance(10_000);
    }

    expect(await response).toBe(event("a").source);
    expect(pauses).toEqual([0, 10_000, 20_000]);
  });

  test.each<[Fault["kind"], Fault]>([
    ["hang", { kind: "hang" }],
    ["hang-mid-body", { kind: "hang-mid-body" }],
  ])("%s lasts until the client gives up", async (_, fault) => {
    await startWith(fault);
    const url = `${simulator.url}/v1/events/a`;
    const headers = { authorization: basic(simulator.credentials) };
    const work = fetch(url, { headers, signal: AbortSignal.timeout(50) }).then((response) => response.text());

    await expect(work).rejects.toMatchObject({ name: "TimeoutError" });
    expect((await get(simulator, "/v1/events/a")).status).toBe(200);
  });
});

describe("encoding", () => {
  test.each(["gzip", "br"] as const)("%s is used when the client accepts it", async (encoding) => {
    await start({ encoding });
    const headers = { authorization: basic(simulator.credentials) };

    const packed = await get(simulator, "/v1/events/a", { ...headers, "accept-encoding": "gzip, br" });
    const plain = await get(simulator, "/v1/events/a", { ...headers, "accept-encoding": "identity" });

    expect(packed.headers.get("content-encoding")).toBe(encoding);
    expect(Number(packed.headers.get("content-length"))).toBeLessThan(200);
    expect(await packed.text()).toBe(event("a").source);
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.headers.get("content-length")).toBe("10000");
  });
});
