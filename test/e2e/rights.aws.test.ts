// What the deployed function may do, after histories that use every right: a catalog that fails, large writes that are
// refused, an old snapshot that is deleted, a refused login, a secret without a value, a run that is handed over.

import { randomBytes } from "node:crypto";
import { ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatRunId, layout } from "../../lambdas/job/storage/layout.ts";
import { onEmulator } from "../aws/emulator.ts";
import { makeEvent } from "../simulator/simulated-event.ts";
import { ACCOUNT_ID } from "./aws-call.ts";
import { DAY_MS, DeployedAccounts } from "./deployed-accounts.ts";
import { isAllowed, unused } from "./policy.ts";

const MINUTE_MS = 60_000;
const WRONG_PASSWORD = "wrong-password";
/** Lambda's own retries, without their delays. */
const AT_ONCE = [1, 1, 1, 1];

/** Each history is that of one account. */
const ACCOUNTS = {
  glue: {},
  large: {},
  old: { retainDays: 1 },
  refused: {},
  fresh: {},
  // 54 requests at once, and then one a minute.
  long: { requestsPerMinute: 1, limitWindowSeconds: 3_600 },
};

onEmulator("the deployed function, which uses all its rights", () => {
  let deployed: DeployedAccounts<keyof typeof ACCOUNTS>;
  let skipped: unknown;
  let repaired: Awaited<ReturnType<typeof failAndRepairCatalog>>;
  let written: Awaited<ReturnType<typeof refuseLargeWrites>>;
  let deleted: Awaited<ReturnType<typeof deleteOldSnapshot>>;
  let changed: unknown;
  let stopped: Awaited<ReturnType<typeof stopExecution>>;

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy(ACCOUNTS, {}, ["fresh"]);
    skipped = await deployed.run("fresh", Date.UTC(2026, 0, 1, 6));
    repaired = await failAndRepairCatalog();
    written = await refuseLargeWrites();
    deleted = await deleteOldSnapshot();
    await deployed.invoke({ action: "check", account: "old" });
    await deployed.invoke({ action: "discover", account: "old", limit: 5 });
    await deployed.invoke({ action: "diff", account: "old", snapshotId: deleted.newest });
    await refuseLogin();
    await deployed.fillSecret("refused");
    changed = await deployed.run("refused", Date.UTC(2026, 0, 2, 6));
    stopped = await stopExecution();
  }, 240_000);

  afterAll(() => deployed?.[Symbol.asyncDispose]());

  test("a secret without a value skips the run as not set up", () => {
    expect(skipped).toMatchObject({ outcome: "SKIPPED", reason: "NOT_SET_UP" });
  });

  test("a changed secret needs no new deployment, and none of its values is in a log line or an event", () => {
    const { function: lambda, recorder } = deployed.deployment;
    const { email, password } = deployed.service("refused").credentials;
    const said = [...lambda.lines, JSON.stringify(recorder.events)].join("\n");

    expect(changed).toMatchObject({ outcome: "PUBLISHED" });
    expect(said).toContain("LOGIN_REFUSED");
    for (const secret of [email, password, WRONG_PASSWORD]) expect(said).not.toContain(secret);
  });

  test("a catalog that fails after the publication is repaired by the next start before it logs in", () => {
    const { failed, seen, pointerAtLogin, next } = repaired;

    expect(failed).toMatchObject({ ok: false, errorType: "CATALOG_FAILED" });
    expect(seen).toBeUndefined();
    expect(pointerAtLogin).toEqual(["0000000001"]);
    expect(next).toMatchObject({ outcome: "PUBLISHED", publication: "0000000002" });
  });

  test("a write that is refused at its end leaves nothing behind, and a retry writes it again", () => {
    const { results, refused, events, unfinished } = written;

    expect(results.map((result) => (result.ok ? "ok" : result.errorType))).toEqual([
      "STORE_FAILED",
      "STORE_FAILED",
      "STORE_FAILED",
      "STORE_FAILED",
      "ok",
    ]);
    expect([...refused]).toEqual(["runs", "snapshots", "changes", "publications"]);
    expect(events).toEqual(deployed.truth("large"));
    expect(unfinished.Uploads ?? []).toEqual([]);
  });

  test("an old snapshot is removed from the tables, and a day later its files are deleted", () => {
    const { oldest, before, retired, filesOfRetired, filesOfDeleted, events } = deleted;

    expect(before).toHaveLength(100);
    expect(retired).toEqual([]);
    expect(filesOfRetired).toContain(layout("old").part(oldest, 0));
    expect(filesOfDeleted).toEqual([layout("old").retired(oldest)]);
    expect(events).toEqual(deployed.truth("old"));
  });

  test("a run without budget is handed over, and the account is free when its execution is aborted", () => {
    const { answer, waiting, whileWaiting, abandoned, lease } = stopped;

    expect(answer).toMatchObject({ outcome: "HANDED_OVER", reason: "BUDGET" });
    expect(waiting).toMatchObject({ status: "ABORTED", output: undefined });
    expect(whileWaiting).toMatchObject({ outcome: "SKIPPED" });
    expect(abandoned).toMatchObject([{ ok: true, payload: { abandoned: true } }]);
    expect(lease).toBeNull();
  });

  test("the role's policies allow every call to AWS, and no permission is unused", () => {
    const { recorder, statements } = deployed.deployment;
    const refused = recorder.calls.filter((call) => !isAllowed(statements, call));
    const ours = statements.filter(({ Action }) => !Action.every((action) => /^(logs|sqs):/.test(action)));

    expect(refused).toEqual([]);
    expect(unused(ours, recorder.calls)).toEqual([]);
  });

  test("every call to S3 names the expected owner of the bucket", () => {
    const calls = deployed.deployment.recorder.calls.filter(({ action }) => action.startsWith("s3:"));

    expect(new Set(calls.map(({ expectedOwner }) => expectedOwner))).toEqual(new Set([ACCOUNT_ID]));
  });

  /** Glue refuses the pointer of a run, and no longer when the next one starts. */
  async function failAndRepairCatalog() {
    const account = "glue";
    const { recorder } = deployed.deployment;
    const simulator = deployed.service(account);
    const pointerAtLogin: unknown[] = [];
    recorder.refuse(
      ({ action, resources }) =>
        /^glue:.*(Create|Update)Partition$/.test(action) && resources.some((arn) => arn.endsWith("/events")),
    );

    const failed = await deployed.deployment.function.invoke({
      account,
      scheduledAt: "2026-01-01T06:00:00Z",
    });
    recorder.refuse(() => false);
    const seen = await deployed.shown(account);
    simulator.configure({
      onRequest: async ({ endpoint }) => {
        if (endpoint !== "login") return;
        pointerAtLogin.push(await deployed.shown(account));
      },
    });
    const next = await deployed.run(account, Date.UTC(2026, 0, 2, 6));
    return { failed, seen, pointerAtLogin, next };
  }

  /** The first completion of each upload and the first commit are refused; Lambda repeats the start. */
  async function refuseLargeWrites() {
    const account = "large";
    const { recorder } = deployed.deployment;
    const blob = (): string => `"blob":"${randomBytes(750_000).toString("base64")}"`;
    deployed
      .service(account)
      .setEvents(Array.from({ length: 12 }, (_, n) => makeEvent(n + 1, { extra: blob() })));
    const refused = new Set<string>();
    recorder.refuse(({ resources: [resource = ""] }, { method, url }) => {
      const [, prefix = ""] = /^arn:aws:s3:::[^/]+\/([^/]+)/.exec(resource) ?? [];
      const isCompletion = method === "POST" && url.includes("uploadId=");
      const isCommit = method === "PUT" && prefix === "publications";
      if (!(isCompletion || isCommit) || refused.has(prefix)) return false;
      refused.add(prefix);
      return true;
    });

    const results = await deployed.deployment.function.deliver(
      { account, scheduledAt: "2026-01-01T06:00:00Z" },
      { retryDelaysMs: AT_ONCE },
    );
    recorder.refuse(() => false);
    const events = await deployed.events(account);
    const unfinished = await deployed.deployment.clients.s3.send(
      new ListMultipartUploadsCommand({ Bucket: deployed.deployment.bucket }),
    );
    return { results, refused, events, unfinished };
  }

  /** A start with a wrong password, which Lambda repeats. */
  async function refuseLogin() {
    const { fillSecret, function: lambda } = deployed.deployment;
    const { email } = deployed.service("refused").credentials;
    await fillSecret("refused", { method: "session", email, password: WRONG_PASSWORD });
    const start = { account: "refused", scheduledAt: "2026-01-01T06:00:00Z" };
    return lambda.deliver(start, { retryDelaysMs: AT_ONCE.slice(2) });
  }

  /** Ten days of a warehouse that keeps snapshots for one. */
  async function deleteOldSnapshot() {
    const account = "old";
    const now = Date.now();
    const oldest = formatRunId(now - 10 * DAY_MS);
    const files = async (): Promise<readonly string[]> =>
      (await Array.fromAsync(deployed.store.list(layout(account).snapshot(oldest)))).map(({ key }) => key);
    await deployed.run(account, now - 10 * DAY_MS);
    await deployed.run(account, now - 5 * DAY_MS);
    await deployed.backdate(layout(account).publication("0000000002"), "published_at", now - 5 * DAY_MS);

    const before = await deployed.rows("event_snapshots", account, oldest);
    await deployed.run(account, now - DAY_MS);
    const retired = await deployed.rows("event_snapshots", account, oldest);
    const filesOfRetired = await files();
    await deployed.backdate(layout(account).retired(oldest), "retired_at", now - 2 * DAY_MS);
    const newest = formatRunId(now - 2 * MINUTE_MS);
    await deployed.run(account, now - 2 * MINUTE_MS);
    const filesOfDeleted = await files();
    const events = await deployed.events(account);
    return { oldest, newest, before, retired, filesOfRetired, filesOfDeleted, events };
  }

  /** A person stops the execution while it waits for the budget. */
  async function stopExecution() {
    const account = "long";
    const { stateMachine } = deployed.deployment;
    stateMachine.clock.stop();
    const answer = await deployed.run(account, Date.UTC(2026, 0, 1, 6));
    const [waiting] = stateMachine.engine.executions;
    const whileWaiting = await deployed.invoke({ account });
    stateMachine.engine.stop(waiting?.start.arn ?? "");
    await stateMachine.delivered();
    const { lease } = await deployed.invoke({ action: "status", account });
    return { answer, waiting, whileWaiting, abandoned: stateMachine.abandoned, lease };
  }
});
