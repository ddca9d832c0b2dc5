// A secret that never had a value is an unfinished setup: runs are skipped until a person fills it.

import { expect, test } from "vitest";
import { check } from "../../../../lambdas/job/commands/check.ts";
import { CredentialsNotSetUp } from "../../../../lambdas/job/credentials/credentials.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { formatRunId } from "../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT, SmallWorld } from "../small-world.ts";

const NOT_SET_UP = {
  openService: async () => {
    throw new CredentialsNotSetUp("The secret brand/uk has no value yet. Fill it.");
  },
};

test.each(["schedule", "manual"] as const)(
  "a start by %s is skipped, says why, and logs it",
  async (trigger) => {
    const world = new SmallWorld();
    const start = trigger === "schedule" ? { trigger, runId: formatRunId(world.clock.now()) } : { trigger };

    const { row, error, explanation } = await world.run(start, NOT_SET_UP);

    expect(error).toBeUndefined();
    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "NOT_SET_UP", requests: null, error_code: null });
    expect(explanation).toBe("The secret brand/uk has no value yet. Fill it.");
    const logged = world.store.text(`run-log/${ACCOUNT}/${row.run_id}-1.ndjson`) ?? "";
    expect(JSON.parse(logged)).toMatchObject({ outcome: "SKIPPED", reason: "NOT_SET_UP" });
  },
);

test("the same trigger publishes once the secret is filled", async () => {
  const world = new SmallWorld();
  world.show(5);
  const runId = formatRunId(world.clock.now());
  await world.run({ trigger: "schedule", runId }, NOT_SET_UP);

  const { row } = await world.run({ trigger: "schedule", runId });

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: 5 });
});

test("other faults of the credentials still fail the run", async () => {
  const openService = async () => {
    throw new SyncError("CREDENTIALS_INVALID", "The secret does not hold valid credentials.");
  };

  const { row } = await new SmallWorld().run({ trigger: "manual" }, { openService });

  expect(row).toMatchObject({ outcome: "FAILED", error_code: "CREDENTIALS_INVALID" });
});

test("a check reports it as a fault of the credentials, with the remedy", async () => {
  const world = new SmallWorld();

  const checks = await check(world.ports(NOT_SET_UP), world.settings);

  expect(checks).toContainEqual({
    name: "credentials",
    ok: false,
    code: "CREDENTIALS_INVALID",
    remedy: "The secret brand/uk has no value yet. Fill it.",
  });
});
