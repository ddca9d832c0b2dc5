// A few requests that fail and are well at the next attempt, as in every long run: they must not hold up the others.

import { expect, test } from "vitest";
import type { FaultRule } from "../../../../simulator/faults.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { LimitedWorld } from "./limited-world.ts";

const EVENTS = makeEvents(600);
const LATENCY_MS = 50;
const CONNECTIONS = 16;

/** How long a run takes, in virtual time: requests take their latency, and all else takes none. */
async function durationMs(faults: readonly FaultRule[]): Promise<number> {
  await using world = await LimitedWorld.start(
    { events: EVENTS, faults, latencyMs: LATENCY_MS, limits: {} },
    { requestsPerMinute: "unlimited", concurrency: CONNECTIONS },
  );
  const startedAtMs = world.clock.monotonicMs();
  const { row } = await world.run();
  expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS.length, retries: faulty(faults) });
  return world.clock.monotonicMs() - startedAtMs;
}

function faulty(faults: readonly FaultRule[]): number {
  return faults.reduce((sum, { match }) => sum + (match.uuids?.size ?? 0), 0);
}

const every = (oneIn: number, first: number): ReadonlySet<string> =>
  new Set(EVENTS.filter((_, index) => index % oneIn === first).map(({ uuid }) => uuid));

test("2 % of status 500 and 1 % of resets make a run at most 1.3 times as long", async () => {
  const withoutMs = await durationMs([]);

  const withMs = await durationMs([
    { match: { path: "detail", uuids: every(50, 1), each: true }, fault: { kind: "status", status: 500 } },
    { match: { path: "detail", uuids: every(100, 2), each: true }, fault: { kind: "reset" } },
  ]);

  expect(withoutMs).toBeGreaterThanOrEqual((EVENTS.length / CONNECTIONS) * LATENCY_MS);
  expect(withMs).toBeLessThanOrEqual(1.3 * withoutMs);
});
