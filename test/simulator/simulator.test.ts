import { once } from "node:events";
import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { CANARY } from "./account.ts";
import { basic, get } from "./browser.ts";
import { ManualClock } from "./manual-clock.ts";
import type { SeenRequest, SimulatorOptions } from "./settings.ts";
import { makeEvent, makeEvents } from "./simulated-event.ts";
import { Simulator } from "./simulator.ts";

const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
const [FIRST, SECOND, THIRD] = [makeEvent(1).uuid, makeEvent(2).uuid, makeEvent(3).uuid] as const;

let simulator: Simulator;
afterEach(() => simulator.stop());

const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await Simulator.start({ events: makeEvents(3), ...options });
};

const detail = (uuid: string): Promise<Response> => get(simulator, `/v1/events/${uuid}`);

describe("the truth", () => {
  test("is what the endpoints show, and follows every change", async () => {
    await start();

    simulator.archive(FIRST);
    simulator.unlist(SECOND);
    simulator.change(THIRD, { source: `{"uuid":"${THIRD}","n":1e400}` });
    simulator.add(makeEvent(4));

    const listed = await (await get(simulator, "/v1/events?is_listed=true")).text();
    expect(listed).toBe(`{"data":[${makeEvent(3).listing},${makeEvent(4).listing}]}`);
    expect(simulator.listed().map(({ uuid }) => uuid)).toEqual([THIRD, makeEvent(4).uuid]);
    expect(simulator.detailSource(THIRD)).toBe(`{"uuid":"${THIRD}","n":1e400}`);
    expect(await (await detail(THIRD)).text()).toBe(`{"data":${simulator.detailSource(THIRD)}}`);
    expect((await detail(FIRST)).status).toBe(404);
    expect((await detail(SECOND)).status).toBe(200);
    expect([simulator.size, simulator.has(FIRST), simulator.has("x")]).toEqual([4, true, false]);
  });

  test("keeps restricted and vanished events in the list", async () => {
    await start();

    simulator.restrict(FIRST);
    simulator.vanish(SECOND);
    simulator.vanish(THIRD, 410);

    const statuses = await Promise.all(
      [FIRST, SECOND, THIRD].map(async (uuid) => (await detail(uuid)).status),
    );
    expect(statuses).toEqual([403, 404, 410]);
    expect(simulator.listed()).toHaveLength(3);
  });
});

describe("configure", () => {
  test("replaces the settings it names, and restarts the counting of faults", async () => {
    const faults = [{ match: { nth: 2 }, fault: { kind: "status", status: 500 } }] as const;
    await start({ detail: { shape: "bare" }, faults });
    const statuses = async (): Promise<readonly number[]> => [
      (await detail(FIRST)).status,
      (await detail(FIRST)).status,
    ];

    expect(await statuses()).toEqual([200, 500]);
    simulator.configure({ faults });
    expect(await statuses()).toEqual([200, 500]);
    simulator.configure({ latencyMs: 0, faults: [] });
    expect(await statuses()).toEqual([200, 200]);
    expect(await (await detail(FIRST)).text()).toBe(makeEvent(1).source);
  });
});

describe("hooks", () => {
  test("onRequest sees every request, and the response waits for it", async () => {
    const seen: SeenRequest[] = [];
    const gate = Promise.withResolvers<void>();
    await start({
      onRequest: (request) => {
        seen.push(request);
        return request.endpoint === "detail" ? gate.promise : undefined;
      },
    });
    let answered = false;

    const response = detail(FIRST).then(() => {
      answered = true;
    });
    await get(simulator, "/v1/events");
    expect(answered).toBe(false);
    gate.resolve();
    await response;

    expect(seen).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ endpoint: "detail", uuid: FIRST }),
        expect.objectContaining({ endpoint: "list" }),
      ]),
    );
    expect(seen.map(({ n }) => n)).toEqual([1, 2]);
  });

  test("latency may depend on the request", async () => {
    const clock = new ManualClock(NOON_MS);
    await start({ clock, latencyMs: ({ uuid }) => (uuid === FIRST ? 1_000 : 0) });
    const order: string[] = [];

    const slow = detail(FIRST).then(() => order.push("slow"));
    await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(1);
    await detail(SECOND).then(() => order.push("quick"));
    clock.advance(1_000);
    await slow;

    expect(order).toEqual(["quick", "slow"]);
  });

  test("a client that gives up leaves nothing behind", async () => {
    const clock = new ManualClock(NOON_MS);
    await start({ clock, latencyMs: 1_000 });
    const abort = new AbortController();
    const headers = { authorization: basic(simulator.credentials) };
    const asked = fetch(`${simulator.url}/v1/events`, { headers, signal: abort.signal });
    await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(1);

    abort.abort();

    await expect(asked).rejects.toThrow();
    await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(0);
    simulator.reset();
    expect(simulator.counts.maxInFlight).toBe(0);
  });

  test("a hook's error is not lost: stop gives it", async () => {
    const error = new Error("a test's own mistake");
    const broken = await Simulator.start({
      onRequest: () => {
        throw error;
      },
    });

    await expect(get(broken, "/v1/events")).rejects.toThrow();
    await expect(broken.stop()).rejects.toBe(error);
    await start();
  });
});

describe("stop", () => {
  test("ends connections that hang, and may be called twice", async () => {
    await start({ faults: [{ match: {}, fault: { kind: "hang" } }] });
    const hanging = detail(FIRST);
    await expect.poll(() => simulator.counts.requests, { interval: 1 }).toBe(1);

    const [outcome] = await Promise.allSettled([hanging, simulator.stop()]);
    await simulator.stop();

    expect(outcome.status).toBe("rejected");
    await expect(detail(FIRST)).rejects.toThrow();
  });

  test("comes by itself at the end of a block", async () => {
    await start();
    let url = "";
    {
      await using other = await Simulator.start();
      url = other.url;
    }

    await expect(fetch(url)).rejects.toThrow();
  });
});

describe("what is asked wrongly", () => {
  test.each([
    ["GET", "/v1/analyses", 404],
    ["GET", "//v1/events", 404],
    ["GET", "/v1/events/", 404],
    ["GET", "/v1/v1/events", 404],
    ["GET", "/v1/events/a/", 404],
    ["POST", "/v1/events", 405],
    ["DELETE", "/v1/events/a", 405],
    ["GET", "/v1/auth/login", 405],
  ])("%s %s is answered %i", async (method, path, status) => {
    await start();
    const headers = { authorization: basic(simulator.credentials) };

    expect((await fetch(simulator.url + path, { method, headers })).status).toBe(status);
  });

  test("a known event is known at its own path only", async () => {
    await start();
    const [event] = simulator.listed();
    const status = async (path: string): Promise<number> => (await get(simulator, path)).status;

    expect(await status(`/v1/events/${event?.uuid}`)).toBe(200);
    expect(await status(`/v1/events/${event?.uuid}/`)).toBe(404);
    expect(await status(`/v1/events/${event?.uuid}/x`)).toBe(404);
    expect(await status(`/v1/events/${event?.uuid.toUpperCase()}`)).toBe(404);
  });

  test("and it is 401 without a login, whatever it is", async () => {
    await start();

    expect((await get(simulator, "/v1/nonsense", {})).status).toBe(401);
    expect((await get(simulator, "/v1/events/a", { cookie: CANARY.cookie })).status).toBe(401);
  });
});

const ask = async (url: string): Promise<unknown> => {
  const sent = request(`${url}/v1/events`, { agent: false, timeout: 50 });
  sent.on("timeout", () => sent.destroy(Object.assign(new Error("nothing comes"), { code: "TIMED_OUT" })));
  sent.end();
  const answer = once(sent, "response").then(([response]) => {
    response.resume();
    return response.statusCode;
  });
  return answer.catch((error: { code?: unknown }) => error.code);
};

describe("an outage at the start", () => {
  test.each([
    ["refuse", "ECONNREFUSED"],
    ["reset", "ECONNRESET"],
    ["hang", "TIMED_OUT"],
  ] as const)("of the kind %s lasts as long as it is told to", async (kind, failure) => {
    const clock = new ManualClock(0);
    await using simulator = await Simulator.start({ clock, outage: { kind, ms: 1_000 } });

    clock.advance(999);
    expect(await ask(simulator.url)).toBe(failure);
    expect(simulator.counts.requests).toBe(0);
    clock.advance(1);

    await expect.poll(() => ask(simulator.url)).toBe(401);
  });

  test.each(["refuse", "reset", "hang"] as const)("of the kind %s may be the whole life", async (kind) => {
    const simulator = await Simulator.start({ outage: { kind, ms: 60_000 } });

    await simulator.stop();

    expect(await ask(simulator.url)).toBe("ECONNREFUSED");
  });
});
