// The session may end at any request: one more login, every event present, the same bytes.

import { expect, test } from "vitest";
import { realClock } from "../../../../simulator/clocks.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { Sandbox } from "../../sandbox.ts";
import { partChecksums, undisturbedChecksums } from "./part-checksums.ts";

const EVENTS = 20;

const expected = await undisturbedChecksums(EVENTS);
// Request 1 is the login, 2 the list, then come the details.
const requests = Array.from({ length: EVENTS + 1 }, (_, index) => index + 2);

test.each([1, 64].flatMap((inFlight) => requests.map((n) => ({ n, inFlight }))))(
  "a session that ends at request $n with $inFlight in flight costs exactly one more login",
  async ({ n, inFlight }) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(EVENTS) }, { concurrency: inFlight });
    let alive = true;
    sandbox.simulator.configure({
      onRequest: (request) => {
        if (alive && request.n === n) {
          alive = false;
          sandbox.simulator.endSessions();
        }
      },
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS, logins: 2 });
    expect(sandbox.simulator.counts.logins).toBe(2);
    expect(await partChecksums(sandbox, row.snapshot_id)).toEqual(expected);
  },
);

test.each([
  { why: "after every 5 requests", session: { maxRequests: 5 } },
  { why: "after a while", session: { maxAgeMs: 400 } },
])("a session that ends $why is renewed as often as needed", async ({ session }) => {
  const service = { events: makeEvents(EVENTS), session, latencyMs: 50 };
  await using sandbox = await Sandbox.start(service, { concurrency: 2 }, realClock());

  const { row } = await sandbox.run();

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS });
  expect(row.logins).toBeGreaterThan(1);
  expect(await sandbox.events()).toEqual(sandbox.truth());
});
