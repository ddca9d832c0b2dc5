// Completeness: whatever the service does, a snapshot has every listed event or accounts for it, or there is none.

import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { Fault, FaultMatch } from "../../../../simulator/faults.ts";
import { makeEvent, makeEvents } from "../../../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const status = (code: number, headers: Record<string, string> = {}): Fault => ({
  kind: "status",
  status: code,
  headers,
});

const PASSING: readonly Fault[] = [
  status(408),
  status(425),
  status(429),
  status(429, { "retry-after": "2" }),
  status(500),
  status(502),
  status(503),
  status(503, { "retry-after": "1" }),
  status(504),
  { kind: "html" },
  { kind: "reset" },
  { kind: "reset-mid-body" },
  { kind: "truncate" },
  { kind: "cut" },
  { kind: "slow-body", pauseMs: 100 },
  { kind: "hang" },
  { kind: "hang-mid-body" },
  { kind: "body", text: "" },
  { kind: "body", text: Buffer.from([0x22, 0xff, 0x22]) },
];
const name = (fault: Fault): string =>
  "status" in fault && fault.kind === "status"
    ? `${fault.status}${fault.headers?.["retry-after"] ? " with Retry-After" : ""}`
    : fault.kind;

describe("a fault that passes", () => {
  const cases = PASSING.flatMap((fault) => (["list", "detail"] as const).map((path) => ({ fault, path })));

  test.each([
    ...cases.map((one) => ({ ...one, what: name(one.fault) })),
    { fault: { kind: "wrong-uuid" } as const, path: "detail" as const, what: "wrong-uuid" },
  ])("leaves the snapshot complete: $what on the $path", async ({ fault, path }) => {
    const events = makeEvents(12);
    const match: FaultMatch = path === "list" ? { path } : { path, each: true };
    await using sandbox = await Sandbox.start({ events, faults: [{ match, fault }] }, { concurrency: 6 });
    // A page of the list has ten times as long.
    if (fault.kind.startsWith("hang")) sandbox.timeoutMs = path === "list" ? 100 : 300;

    const { row, error } = await sandbox.run();

    expect(error).toBeUndefined();
    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 12, events: 12, rejected: 0 });
    expect(await sandbox.events()).toEqual(sandbox.truth());
    expect(sandbox.simulator.counts.faults).toBe(path === "list" ? 1 : 12);
  });
});

describe("a fault that stays", () => {
  test.each<{ what: string; fault: Fault; path: "list" | "detail"; code: ErrorCode }>([
    { what: "500", fault: status(500), path: "detail", code: "SERVICE_UNAVAILABLE" },
    { what: "500", fault: status(500), path: "list", code: "SERVICE_UNAVAILABLE" },
    { what: "HTML with status 200", fault: { kind: "html" }, path: "detail", code: "SERVICE_UNAVAILABLE" },
    { what: "HTML with status 200", fault: { kind: "html" }, path: "list", code: "SERVICE_UNAVAILABLE" },
    { what: "another uuid", fault: { kind: "wrong-uuid" }, path: "detail", code: "SERVICE_UNAVAILABLE" },
    { what: "half a body", fault: { kind: "truncate" }, path: "detail", code: "SERVICE_UNAVAILABLE" },
    { what: "429", fault: status(429), path: "list", code: "THROTTLED" },
    {
      what: "Retry-After of an hour",
      fault: status(429, { "retry-after": "3600" }),
      path: "detail",
      code: "THROTTLED",
    },
    { what: "400", fault: status(400), path: "detail", code: "UNEXPECTED_RESPONSE" },
    { what: "400", fault: status(400), path: "list", code: "UNEXPECTED_RESPONSE" },
    { what: "404", fault: status(404), path: "list", code: "UNEXPECTED_RESPONSE" },
    { what: "403", fault: status(403), path: "list", code: "NOT_ENTITLED" },
    { what: "401", fault: status(401), path: "detail", code: "UNAUTHENTICATED" },
    {
      what: "a redirect",
      fault: { kind: "redirect", location: "/login" },
      path: "detail",
      code: "UNEXPECTED_RESPONSE",
    },
    {
      what: "no event in it",
      fault: { kind: "body", text: '{"data":{}}' },
      path: "detail",
      code: "UNEXPECTED_RESPONSE",
    },
    {
      what: "no list in it",
      fault: { kind: "body", text: '{"data":7}' },
      path: "list",
      code: "UNEXPECTED_RESPONSE",
    },
  ])("fails the run as $code and publishes nothing: $what on the $path", async ({ fault, path, code }) => {
    const match: FaultMatch = {
      path,
      times: Number.POSITIVE_INFINITY,
      ...(path === "detail" ? { nth: 7 } : {}),
    };
    await using sandbox = await Sandbox.start({ events: makeEvents(12) });
    await sandbox.run();
    const before = await sandbox.events();
    sandbox.simulator.add(makeEvent(13));
    sandbox.simulator.configure({ faults: [{ match, fault }] });

    const { row, error } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "FAILED", error_code: code, snapshot_id: null });
    expect(error?.code).toBe(code);
    expect(sandbox.store.keys("publications/")).toHaveLength(1);
    expect(sandbox.store.keys(layout(ACCOUNT).snapshot(row.run_id))).toEqual([]);
    expect(await sandbox.events()).toEqual(before);
    const lasts = error?.isRetryable === true;
    expect(sandbox.store.keys(layout(ACCOUNT).outcome(row.run_id))).toHaveLength(lasts ? 0 : 1);
  });

  test("such as a service that does not respond fails the run as SERVICE_UNAVAILABLE", async () => {
    await using sandbox = await Sandbox.start();
    sandbox.settings = { ...sandbox.settings, baseUrl: "http://127.0.0.1:1" };

    const { row, error } = await sandbox.run();

    expect(row).toMatchObject({
      outcome: "FAILED",
      error_code: "SERVICE_UNAVAILABLE",
      requests: 6,
    });
    expect(error?.message).toContain("--base-url");
  });

  test("is over at the next start, which fetches only what is missing", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(12) }, { rangeEvents: 4, concurrency: 1 });
    const match = { path: "detail", nth: 7, times: Number.POSITIVE_INFINITY } as const;
    sandbox.simulator.configure({ faults: [{ match, fault: status(503) }] });
    const failed = await sandbox.run();
    sandbox.simulator.configure({ faults: [] });
    sandbox.simulator.reset();

    const next = await sandbox.run();

    expect(failed.row).toMatchObject({ outcome: "FAILED", error_code: "SERVICE_UNAVAILABLE" });
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", run_id: failed.row.run_id, attempt: 2 });
    expect(sandbox.simulator.counts).toMatchObject({ list: 0, details: 6 });
    expect(sandbox.log.text).toContain(`continues ${failed.row.run_id}, 6 of 12 done`);
  });
});
