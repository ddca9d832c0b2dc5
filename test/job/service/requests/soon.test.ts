// When a request that failed for no reason that the service gave is sent again.

import { describe, expect, it } from "vitest";
import { type Fault, type FaultRule, status } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { type Connection, connect, fetchAll } from "../connection.ts";

/** The delays before the retries, in order. */
function delaysMs({ log }: Connection): readonly number[] {
  return [...log.text.matchAll(/"delayMs":(\d+)/g)].map(([, delayMs]) => Number(delayMs));
}

async function fetchWith(faults: readonly FaultRule[], events = 20): Promise<readonly number[]> {
  await using connection = await connect({ events: makeEvents(events), faults });
  await fetchAll(connection.service, 1);
  return delaysMs(connection);
}

describe("a request that failed alone", () => {
  it.each<readonly [string, Fault]>([
    ["status 500", status(500)],
    ["status 503 without Retry-After", status(503)],
    ["a connection that is reset", { kind: "reset" }],
    ["a body that breaks off", { kind: "reset-mid-body" }],
    ["a page that is no JSON", { kind: "html" }],
  ])("is sent again within 25 to 75 ms: %s", async (_, fault) => {
    const delays = await fetchWith([{ match: { path: "detail", nth: 7 }, fault }]);

    expect(delays).toHaveLength(1);
    expect(delays[0]).toBeGreaterThanOrEqual(25);
    expect(delays[0]).toBeLessThan(75);
  });

  it("is sent again more slowly when it fails again", async () => {
    const delays = await fetchWith([{ match: { path: "list", times: 4 }, fault: status(500) }]);

    expect(delays).toHaveLength(4);
    expect(delays[0]).toBeLessThan(75);
    // Full jitter from 0 to 2, 4 and 8 s.
    expect(Math.max(...delays.slice(1))).toBeGreaterThan(1_000);
  });

  it.each<readonly [string, Fault]>([
    ["status 429", status(429)],
    ["status 429 with Retry-After", status(429, { "retry-after": "3" })],
    ["status 503 with Retry-After", status(503, { "retry-after": "3" })],
  ])("waits as the service asks, and no less: %s", async (_, fault) => {
    const delays = await fetchWith(
      [1, 5, 9].map((nth) => ({ match: { path: "detail", nth, times: 1 }, fault })),
    );

    expect(delays).toHaveLength(3);
    const isAsked = fault.kind === "status" && fault.headers?.["retry-after"] !== undefined;
    expect(Math.max(...delays)).toBeGreaterThan(75);
    if (isAsked) expect(Math.min(...delays)).toBeGreaterThanOrEqual(3_000);
  });
});

describe("requests of a service that struggles", () => {
  it("are sent again within a second, not at once", async () => {
    const faults = [{ match: { path: "detail", each: true }, fault: status(500) } as const];

    const delays = await fetchWith(faults, 30);

    const soon = delays.filter((delayMs) => delayMs >= 25 && delayMs < 75);
    expect(delays).toHaveLength(30);
    expect(delays.slice(0, 9).every((delayMs) => delayMs < 75)).toBe(true);
    expect(soon.length).toBeLessThan(16);
    expect(Math.max(...delays)).toBeGreaterThan(500);
  });
});
