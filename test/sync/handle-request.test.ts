import { describe, expect, test } from "vitest";
import type { Catalog } from "../../lambdas/job/catalog/catalog.ts";
import { CredentialsNotSetUp } from "../../lambdas/job/credentials/credentials.ts";
import { addRestart, damaged, RESTORE, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { formatRunId, layout } from "../../lambdas/job/storage/layout.ts";
import { createRemoval } from "../../lambdas/job/storage/publication-log.ts";
import { accountStore, type Store } from "../../lambdas/job/storage/store.ts";
import { invocationError, timeKept, timeLimit } from "../../lambdas/sync/handle-request.ts";
import { interposed } from "../job/run/interposed-store.ts";
import { realClock, settableClock } from "../simulator/clocks.ts";
import { FunctionSandbox, RUN, SCHEDULED_AT } from "./function-sandbox.ts";

describe("a run", () => {
  test("of the only account is published, counted, logged and sent as an event", async () => {
    await using sandbox = await FunctionSandbox.start();

    const response = await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    expect(response).toMatchObject({ outcome: "PUBLISHED", run_id: RUN, publication: "0000000001" });
    expect(sandbox.metrics).toMatchObject([{ account: "uk", values: { Published: 1, Events: 100 } }]);
    expect(sandbox.events).toMatchObject([
      { detailType: "Run Started", detail: { account: "uk", run_id: RUN, trigger: "schedule" } },
      { detailType: "Snapshot Published", detail: { publication: "0000000001" } },
    ]);
    expect(sandbox.log.known).toEqual({ request_id: "request-1", account: "uk", run_id: RUN });
    expect(sandbox.log.text).toContain("ended as PUBLISHED");
  });

  test("holds its lease under a random token only: no other process can tell whether it lives", async () => {
    await using sandbox = await FunctionSandbox.start();
    const holders: unknown[] = [];
    const store = interposed(sandbox.store, async () => {
      holders.push(JSON.parse(sandbox.store.text(layout("uk").lease) ?? "{}").holder);
    });

    await sandbox.invoke({}, { store });

    const [, held] = holders; // the first creation is the lease itself
    expect(held).toEqual({ token: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });
});

describe("an event that cannot be sent", () => {
  test("leaves the run published, and is counted; the same trigger sends it again", async () => {
    await using sandbox = await FunctionSandbox.start();
    const { sendEvent } = sandbox;
    sandbox.sendEvent = () => Promise.reject(new Error("no bus"));

    const first = await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    sandbox.sendEvent = sendEvent;
    const again = await sandbox.invoke({ scheduledAt: SCHEDULED_AT });

    expect(first).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
    expect(sandbox.metrics.map(({ values }) => values)).toMatchObject([
      { EventNotSent: 1 },
      { Published: 1 },
      { EventNotSent: 1 },
      {},
    ]);
    expect(again).toMatchObject({ outcome: "PUBLISHED", publication: "0000000001" });
    expect(sandbox.events).toMatchObject([{ detail: { publication: "0000000001" } }]);
  });

  test("does not hide why a run failed", async () => {
    await using sandbox = await FunctionSandbox.start({ account: { disabled: true } });
    sandbox.sendEvent = () => Promise.reject(new Error("no bus"));

    await expect(sandbox.invoke({})).rejects.toMatchObject({ name: "ACCOUNT_DISABLED" });
  });
});

test("an error about damaged files that readers see has the whole command that restarts", () => {
  const error = addRestart(damaged("a", "it is cut", RESTORE));
  const environment = { region: "eu-central-1", functionName: "sync", accounts: {}, program: "sync" };

  expect(invocationError(error, start, environment).message).toMatch(
    / Or restart over the damage; then all events count as added: `aws lambda invoke --region eu-central-1 --function-name sync:live .* --payload '{"action":"run","account":"uk","overDamaged":true}' \/dev\/stdout`\. \(account uk, run /,
  );
});

describe("an unforeseen error", () => {
  const broken: Partial<Store> = {
    read: () => Promise.reject(new RangeError("row of canary@example.test")),
  };

  test("is thrown without its message, counted as a failure and recorded in the run log", async () => {
    await using sandbox = await FunctionSandbox.start();
    const store = { ...interposed(sandbox.store), ...broken };

    const failure = await sandbox
      .invoke({ scheduledAt: SCHEDULED_AT }, { store })
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({
      name: "UNEXPECTED",
      message: expect.stringContaining("Unexpected error (RangeError)"),
    });
    expect(failure).not.toMatchObject({ message: expect.stringContaining("canary") });
    expect(sandbox.metrics).toEqual([{ account: "uk", values: { Failed: 1 } }]);
    expect(sandbox.log.text).not.toContain("canary");
    expect(sandbox.store.keys("run-log/")).toHaveLength(1);
  });
});

test.each([
  { event: { dryrun: true }, says: "dryrun: not known" },
  { event: { account: "fr" }, says: '"fr"' },
])("a wrong input ends as CONFIG_INVALID, and nothing is done: $says", async ({ event, says }) => {
  await using sandbox = await FunctionSandbox.start();

  await expect(sandbox.invoke(event)).rejects.toMatchObject({
    name: "CONFIG_INVALID",
    message: expect.stringContaining(says),
  });

  expect(sandbox.store.keys()).toEqual([]);
  expect(sandbox.metrics).toEqual([]);
});

describe("the placeholder as the address of the service", () => {
  test.each(["run", "check", "discover"])(
    "ends %s as CONFIG_INVALID before anything begins",
    async (action) => {
      await using sandbox = await FunctionSandbox.start({}, { baseUrl: "https://api.example.com" });

      await expect(sandbox.invoke({ action })).rejects.toMatchObject({
        name: "CONFIG_INVALID",
        message: expect.stringContaining("Set eventSync.baseUrl in cdk.json"),
      });

      expect(sandbox.store.keys()).toEqual([]);
    },
  );

  test("does not stop status, which sends no request", async () => {
    await using sandbox = await FunctionSandbox.start({}, { baseUrl: "https://api.example.com" });

    expect(await sandbox.invoke({ action: "status" })).toMatchObject({ account: "uk", head: null });
  });
});

test("a schedule that starts before the secret is filled is skipped: nothing fails, and no alarm changes", async () => {
  await using sandbox = await FunctionSandbox.start();
  const credentials = () => ({
    read: () => Promise.reject(new CredentialsNotSetUp("The secret has no value yet. Fill it.")),
  });

  const response = await sandbox.invoke({ scheduledAt: SCHEDULED_AT }, { credentials });

  expect(response).toMatchObject({
    outcome: "SKIPPED",
    reason: "NOT_SET_UP",
    explanation: expect.stringContaining("Fill it"),
  });
  expect(Object.keys(sandbox.metrics[0]?.values ?? {})).toEqual(["Skipped", "DurationSeconds"]);
  expect(sandbox.events).toEqual([]);
  expect(sandbox.simulator.counts.requests).toBe(0);
});

describe("a catalog that cannot be refreshed", () => {
  const failing: Catalog = {
    refresh: () => Promise.reject(new SyncError("CATALOG_FAILED", "Glue refused a call.")),
  };
  const behindAfter = async (failures: number): Promise<readonly unknown[]> => {
    await using sandbox = await FunctionSandbox.start();
    for (let n = 0; n < failures; n += 1) {
      await sandbox.invoke({ scheduledAt: SCHEDULED_AT }, { catalog: failing }).catch(() => undefined);
    }
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    return sandbox.metrics.map(({ values }) => [values.CatalogBehind, values.Failed]);
  };

  test("and that Lambda's retry refreshes is never counted as behind", async () => {
    expect(await behindAfter(2)).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      [0, 0],
    ]);
  });

  test("is counted as behind once no retry follows, until a start has refreshed it", async () => {
    expect((await behindAfter(3)).slice(2)).toEqual([
      [1, undefined],
      [0, 0],
    ]);
  });
});

const start = { account: "uk", run_id: "2026-11-21T06-00-00.000Z" };

test("an error is named by its code and says what to do, for which account and run", () => {
  const failure = invocationError(new SyncError("THROTTLED", "Run again later."), start);

  expect(failure.name).toBe("THROTTLED");
  expect(failure.message).toBe("Run again later. (account uk, run 2026-11-21T06-00-00.000Z)");
});

test("an error before the run is known names only the account", () => {
  const error = new SyncError("CONFIG_INVALID", "No.");

  expect(invocationError(error, { account: "uk" }).message).toBe("No. (account uk)");
  expect(invocationError(error, {}).message).toBe("No.");
});

describe("an unforeseen error", () => {
  test("shows its kind and stack frames, and nothing of its message", () => {
    const failure = invocationError(whereItHappened(), start);

    expect(failure.name).toBe("UNEXPECTED");
    expect(failure.message).toContain("Unexpected error (RangeError)");
    expect(failure.message).toContain("(account uk, run 2026-11-21T06-00-00.000Z)");
    expect(failure.stack).toContain("whereItHappened");
    expect(failure.stack).not.toContain("secret@example.test");
    expect(failure.cause).toBeUndefined();
  });

  test("may be any value", () => {
    expect(invocationError("secret@example.test", start).message).toContain("Unexpected error (string)");
  });
});

function whereItHappened(): Error {
  return new RangeError("row of secret@example.test");
}

const context = (leftMs: number) => ({ getRemainingTimeInMillis: () => leftMs });

test("the signal aborts as INTERRUPTED before the end", async () => {
  using limit = timeLimit(context(40));

  expect(limit.signal.aborted).toBe(false);
  await new Promise((resolve) => limit.signal.addEventListener("abort", resolve));

  expect(limit.signal.reason).toMatchObject({ code: "INTERRUPTED", isRetryable: true });
});

test.each([
  { limitMs: 900_000, reserveMs: 30_000, closingMs: 10_000 },
  { limitMs: 20_000, reserveMs: 10_000, closingMs: 5_000 },
])("of $limitMs ms no unit begins in the last $reserveMs, and none works in the last $closingMs", (one) => {
  const { limitMs, ...kept } = one;

  expect(timeKept(limitMs)).toEqual(kept);
});

test("the time left is Lambda's, and an invocation that has ended is not aborted later", async () => {
  const limit = timeLimit(context(20));

  expect(limit.timeLeftMs()).toBe(20);
  limit[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 30));

  expect(limit.signal.aborted).toBe(false);
});

const DAY_MS = 24 * 60 * 60_000;

test("a removal and a head in the future stop no run, and the service's clock does not matter", async () => {
  const clock = settableClock(realClock());
  clock.set(-10 * DAY_MS);
  await using sandbox = await FunctionSandbox.start({ clock });
  const atMs = sandbox.clock.now() + DAY_MS;
  await createRemoval(accountStore(sandbox.store, "uk"), { runId: formatRunId(atMs), atMs, writeId: "1" });

  const first = await sandbox.invoke({});
  const scheduledAt = new Date(sandbox.clock.now()).toISOString();
  const triggered = await sandbox.invoke({ scheduledAt });

  expect([first, triggered]).toMatchObject([{ outcome: "PUBLISHED" }, { outcome: "PUBLISHED" }]);
  expect(sandbox.log.text).not.toContain("and the service's");
});

test("the mail of a start that failed starts the next one", async () => {
  await using sandbox = await FunctionSandbox.start();
  sandbox.credentials = { method: "session", email: "a@example.test", password: "wrong" };

  await sandbox.invoke({}).catch(() => undefined);

  expect(sandbox.events.at(-1)?.detail).toMatchObject({
    mail: {
      line4: expect.stringContaining(
        ` --payload ${Buffer.from(JSON.stringify({ action: "run", account: "uk" })).toString("base64")} `,
      ),
    },
  });
});
