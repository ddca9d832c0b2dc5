// The same trigger delivered twice: the second start checks again, once it holds the lease, whether its run is finished.

import { expect, test } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { interposed } from "../../interposed-store.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const RUN = "2026-11-21T06-00-00.000Z";

/** A second start's store: the first start does all of its work between this one's first look and its lease. */
function secondAfter(sandbox: Sandbox, first: () => Promise<unknown>): Store {
  let done = false;
  return interposed(sandbox.store, async (key) => {
    if (done || key !== layout(ACCOUNT).lease) return;
    done = true;
    await first();
  });
}

test("a refused login is sent once, and written once", async () => {
  await using sandbox = await Sandbox.start();
  sandbox.credentials = { method: "session", email: "someone@example.com", password: "not this one" };
  const first = async () => expect((await sandbox.run({ runId: RUN })).error?.code).toBe("LOGIN_REFUSED");

  const second = await sandbox.run({ runId: RUN }, { store: secondAfter(sandbox, first) });

  expect(second).toMatchObject({ isRepeat: true, error: { code: "LOGIN_REFUSED" } });
  expect(sandbox.simulator.counts.logins).toBe(1);
  expect(sandbox.store.keys("run-log/")).toEqual([layout(ACCOUNT).runLog(RUN, 1)]);
});

test("a published run has one line in the run log, and the second start frees the lease again", async () => {
  await using sandbox = await Sandbox.start();
  let published: object = {};
  const first = async () => {
    published = await sandbox.run({ runId: RUN });
  };

  const second = await sandbox.run({ runId: RUN }, { store: secondAfter(sandbox, first) });

  expect(second).toEqual({ ...published, isRepeat: true });
  expect(sandbox.simulator.counts.logins).toBe(1);
  expect(sandbox.store.keys("run-log/")).toEqual([layout(ACCOUNT).runLog(RUN, 1)]);
  expect(JSON.parse(sandbox.store.text(layout(ACCOUNT).lease) ?? "")).toMatchObject({ run_id: null });
});
