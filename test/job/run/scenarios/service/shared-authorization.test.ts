// Two accounts whose runs use one authorization at the same time: its tokens are renewed once for both, and none is lost.

import { expect, test } from "vitest";
import { run } from "../../../../../lambdas/job/run/run.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { Sandbox } from "../../sandbox.ts";

test("two accounts with one authorization publish, and never send the same refresh token", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(30) }, { concurrency: 4 });
  sandbox.use("oauth");
  const { provider, place } = sandbox.authorized;
  provider.configure({ accessToken: { maxRequests: 10 } });

  const [uk, de] = await Promise.all(
    ["uk", "de"].map((account) =>
      run({ ...sandbox.ports(), store: accountStore(sandbox.store, account) }, sandbox.settings, {
        trigger: "manual",
      }),
    ),
  );

  expect([uk?.row.outcome, de?.row.outcome]).toEqual(["PUBLISHED", "PUBLISHED"]);
  expect(provider.counts).toMatchObject({
    spentTokensSeen: 0,
    revokedFamilies: 0,
    maxTokenRequestsInFlight: 1,
  });
  expect(provider.counts.refreshes).toBeGreaterThanOrEqual(5);
  expect(place.writes).toBe(1 + provider.counts.refreshes);
});
