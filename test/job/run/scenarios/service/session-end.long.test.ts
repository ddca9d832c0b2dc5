// The session, or the access token, may end at any request: one more login or renewal, every event present, the same bytes.

import { describe, expect, test } from "vitest";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { realClock } from "../../../../simulator/clocks.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { Sandbox } from "../../sandbox.ts";

const EVENTS = 20;

/** The checksums of the parts that a run published: equal where the bytes are. */
async function partChecksums(sandbox: Sandbox, snapshotId: string | null): Promise<readonly string[]> {
  const { parts } = await readManifest(sandbox.own, snapshotId ?? "");
  return parts.map(({ sha256 }) => sha256);
}

/** The checksums of a run that nothing disturbs. */
async function undisturbedChecksums(): Promise<readonly string[]> {
  await using sandbox = await Sandbox.start({ events: makeEvents(EVENTS) });
  const { row } = await sandbox.run();
  return partChecksums(sandbox, row.snapshot_id);
}

async function oauthSandbox(inFlight: number): Promise<Sandbox> {
  const sandbox = await Sandbox.start({ events: makeEvents(EVENTS) }, { concurrency: inFlight });
  sandbox.use("oauth");
  return sandbox;
}

const expected = await undisturbedChecksums();

describe.each([
  {
    what: "a session",
    method: "session",
    // Request 1 is the login, 2 the list, then come the details.
    first: 2,
    end: ({ simulator }: Sandbox) => simulator.endSessions(),
    countsOf: ({ simulator }: Sandbox) => ({ logins: simulator.counts.logins }),
    logins: 2,
    counts: { logins: 2 },
  },
  {
    what: "an access token",
    method: "oauth",
    // Request 1 is the list, then come the details.
    first: 1,
    end: ({ authorized }: Sandbox) => authorized.provider.endAccessTokens(),
    countsOf: ({ authorized: { provider, place } }: Sandbox) => {
      const { refreshes, spentTokensSeen } = provider.counts;
      return { refreshes, spentTokensSeen, writes: place.writes };
    },
    logins: 1,
    counts: { refreshes: 1, spentTokensSeen: 0, writes: 2 },
  },
] as const)("$what that ends", ({ method, first, end, countsOf, logins, counts }) => {
  const requests = Array.from({ length: EVENTS + 1 }, (_, index) => index + first);

  test.each([1, 64].flatMap((inFlight) => requests.map((n) => ({ n, inFlight }))))(
    "at request $n with $inFlight in flight costs exactly one more",
    async ({ n, inFlight }) => {
      await using sandbox = await Sandbox.start({ events: makeEvents(EVENTS) }, { concurrency: inFlight });
      sandbox.use(method);
      let alive = true;
      sandbox.simulator.configure({
        onRequest: (request) => {
          if (alive && request.n === n) {
            alive = false;
            end(sandbox);
          }
        },
      });

      const { row } = await sandbox.run();

      expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS, logins });
      expect(countsOf(sandbox)).toEqual(counts);
      expect(await partChecksums(sandbox, row.snapshot_id)).toEqual(expected);
    },
  );
});

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

test("a run with stored tokens needs no request to the identity provider and publishes the same bytes", async () => {
  await using sandbox = await oauthSandbox(8);

  const { row } = await sandbox.run();

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS, logins: 0, requests: EVENTS + 1 });
  expect(sandbox.authorized.provider.counts.refreshes).toBe(0);
  expect(await partChecksums(sandbox, row.snapshot_id)).toEqual(expected);
});

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
