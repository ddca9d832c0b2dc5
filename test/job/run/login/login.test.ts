import { describe, expect, test } from "vitest";
import { check } from "../../../../lambdas/job/commands/check.ts";
import { CredentialsNotSetUp } from "../../../../lambdas/job/credentials/credentials.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { formatRunId } from "../../../../lambdas/job/storage/layout.ts";
import { saidChecks, told } from "../../../words/said.ts";
import { Sandbox } from "../sandbox.ts";
import { ACCOUNT, SmallWorld } from "../small-world.ts";

const RUN = "2026-11-21T06-00-00.000Z";

describe("a refused login", () => {
  test.each([
    { why: "a wrong password (404)", code: "LOGIN_REFUSED", disabled: false, password: "not this one" },
    { why: "a disabled account (401)", code: "ACCOUNT_DISABLED", disabled: true, password: undefined },
  ])(
    "ends the run for $why as $code, with one login request and nothing written",
    async ({ code, disabled, password }) => {
      await using sandbox = await Sandbox.start({ account: { disabled } });
      sandbox.credentials = { ...sandbox.credentials, ...(password === undefined ? {} : { password }) };

      const result = await sandbox.run({ runId: RUN });

      expect(result.error?.code).toBe(code);
      expect(result.row).toMatchObject({
        outcome: "FAILED",
        error_code: code,
        listed: null,
        logins: 1,
        requests: 1,
      });
      expect(sandbox.simulator.counts).toMatchObject({ requests: 1, logins: 1, loginsAccepted: 0 });
      expect(sandbox.store.keys()).toEqual([
        "accounts/uk/lease.json",
        `run-log/uk/${RUN}-1.ndjson`,
        `runs/uk/${RUN}/outcome.json`,
      ]);
      expect(JSON.parse(sandbox.store.text("accounts/uk/lease.json") ?? "")).toMatchObject({ run_id: null });
    },
  );

  test("is remembered: the same run started again makes no request and gives the same error", async () => {
    await using sandbox = await Sandbox.start({ account: { disabled: true } });

    const first = await sandbox.run({ runId: RUN });
    const keys = sandbox.store.keys();
    const second = await sandbox.run({ runId: RUN });

    expect(second.row).toEqual(first.row);
    expect(second.error).toMatchObject({ code: "ACCOUNT_DISABLED", message: first.error?.message });
    expect(sandbox.simulator.counts.requests).toBe(1);
    expect(sandbox.store.keys()).toEqual(keys);
  });
});

describe("an error that may be due to a wrong address", () => {
  test.each([
    ["names the option before anything was published", false, false, "check --base-url"],
    ["names the operator where what readers see came from there", true, false, "answered rightly before"],
    ["names the option where that came from another address", true, true, "check --base-url"],
  ])("%s", async (_, isPublished, isMoved, says) => {
    await using sandbox = await Sandbox.start();
    await using other = await Sandbox.start();
    if (isPublished) await sandbox.run();
    if (isMoved) sandbox.settings = { ...sandbox.settings, baseUrl: other.simulator.url };
    const { simulator } = isMoved ? other : sandbox;
    simulator.configure({
      faults: [{ match: { path: "login", times: Infinity }, fault: { kind: "status", status: 500 } }],
    });

    const { error } = await sandbox.run();

    expect(told(error)).toMatchObject({ message: expect.stringContaining(says) });
  });
});

test("HTTP Basic publishes the same snapshot without a login", async () => {
  await using sandbox = await Sandbox.start();
  sandbox.credentials = { method: "basic", ...sandbox.simulator.credentials };

  const result = await sandbox.run();

  expect(result.row).toMatchObject({ outcome: "PUBLISHED", events: 100, logins: 0, requests: 101 });
  expect(await sandbox.events()).toEqual(sandbox.truth());
});

// A secret that never had a value is an unfinished setup: runs are skipped until a person fills it.

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

  const checks = saidChecks(await check(world.ports(NOT_SET_UP), world.settings));

  expect(checks).toContainEqual({
    name: "credentials",
    ok: false,
    code: "CREDENTIALS_INVALID",
    remedy: "The secret brand/uk has no value yet. Fill it.",
  });
});
