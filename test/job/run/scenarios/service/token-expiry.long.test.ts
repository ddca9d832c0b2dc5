// The access token may end at any request: one renewal, every event present, the same bytes.

import { expect, test } from "vitest";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { Sandbox } from "../../sandbox.ts";
import { partChecksums, undisturbedChecksums } from "./part-checksums.ts";

const EVENTS = 20;

async function oauthSandbox(inFlight: number): Promise<Sandbox> {
  const sandbox = await Sandbox.start({ events: makeEvents(EVENTS) }, { concurrency: inFlight });
  sandbox.use("oauth");
  return sandbox;
}

const expected = await undisturbedChecksums(EVENTS);
// Request 1 is the list, then come the details.
const requests = Array.from({ length: EVENTS + 1 }, (_, index) => index + 1);

test("a run with stored tokens needs no request to the identity provider and publishes the same bytes", async () => {
  await using sandbox = await oauthSandbox(8);

  const { row } = await sandbox.run();

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS, logins: 0, requests: EVENTS + 1 });
  expect(sandbox.authorized.provider.counts.refreshes).toBe(0);
  expect(await partChecksums(sandbox, row.snapshot_id)).toEqual(expected);
});

test.each([1, 64].flatMap((inFlight) => requests.map((n) => ({ n, inFlight }))))(
  "an access token that ends at request $n with $inFlight in flight costs exactly one renewal",
  async ({ n, inFlight }) => {
    await using sandbox = await oauthSandbox(inFlight);
    const { provider, place } = sandbox.authorized;
    let alive = true;
    sandbox.simulator.configure({
      onRequest: (request) => {
        if (alive && request.n === n) {
          alive = false;
          provider.endAccessTokens();
        }
      },
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS, logins: 1 });
    expect(provider.counts).toMatchObject({ refreshes: 1, spentTokensSeen: 0 });
    expect(place.writes).toBe(2);
    expect(await partChecksums(sandbox, row.snapshot_id)).toEqual(expected);
  },
);

test("tokens that end again and again are renewed each time, and none is lost", async () => {
  await using sandbox = await oauthSandbox(4);
  const { provider } = sandbox.authorized;
  provider.configure({ accessToken: { maxRequests: 2 } });

  const { row } = await sandbox.run();

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS });
  expect(row.logins).toBeGreaterThanOrEqual(9);
  expect(provider.counts).toMatchObject({ refreshes: row.logins, spentTokensSeen: 0, revokedFamilies: 0 });
  expect(await sandbox.events()).toEqual(sandbox.truth());
});
