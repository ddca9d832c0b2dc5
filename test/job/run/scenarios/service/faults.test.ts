// Completeness: whatever the service does, a snapshot has every listed event or accounts for it, or there is none.

import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { DetailShape } from "../../../../simulator/detail-endpoint.ts";
import { type Fault, type FaultMatch, type FaultRule, status } from "../../../../simulator/faults.ts";
import type { ListOptions } from "../../../../simulator/list-endpoint.ts";
import { makeEvent, makeEvents } from "../../../../simulator/simulated-event.ts";
import { said } from "../../../../words/said.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";
import { LimitedWorld } from "./limited-world.ts";

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
    { what: "400", fault: status(400), path: "detail", code: "SERVICE_UNAVAILABLE" },
    { what: "400", fault: status(400), path: "list", code: "UNEXPECTED_RESPONSE" },
    { what: "404", fault: status(404), path: "list", code: "UNEXPECTED_RESPONSE" },
    { what: "403", fault: status(403), path: "list", code: "NOT_ENTITLED" },
    { what: "401", fault: status(401), path: "detail", code: "UNAUTHENTICATED" },
    {
      what: "a redirect",
      fault: { kind: "redirect", location: "/login" },
      path: "detail",
      code: "SERVICE_UNAVAILABLE",
    },
    {
      what: "no event in it",
      fault: { kind: "body", text: '{"data":{}}' },
      path: "detail",
      code: "SERVICE_UNAVAILABLE",
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
    expect(said(error)).toContain("--base-url");
  });
});

const EVENTS = makeEvents(300);
const LATENCY_MS = 50;
const CONNECTIONS = 16;

/** How long a run takes, in virtual time: requests take their latency, and all else takes none. */
async function durationMs(faults: readonly FaultRule[]): Promise<number> {
  await using world = await LimitedWorld.start(
    { events: EVENTS, faults, latencyMs: LATENCY_MS, limits: {} },
    { requestsPerMinute: "unlimited", concurrency: CONNECTIONS },
  );
  const startedAtMs = world.clock.monotonicMs();
  const { row } = await world.run();
  expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS.length, retries: faulty(faults) });
  return world.clock.monotonicMs() - startedAtMs;
}

function faulty(faults: readonly FaultRule[]): number {
  return faults.reduce((sum, { match }) => sum + (match.uuids?.size ?? 0), 0);
}

const every = (oneIn: number, first: number): ReadonlySet<string> =>
  new Set(EVENTS.filter((_, index) => index % oneIn === first).map(({ uuid }) => uuid));

test("2 % of status 500 and 1 % of resets make a run at most 1.3 times as long", async () => {
  const withoutMs = await durationMs([]);

  const withMs = await durationMs([
    { match: { path: "detail", uuids: every(50, 1), each: true }, fault: { kind: "status", status: 500 } },
    { match: { path: "detail", uuids: every(100, 2), each: true }, fault: { kind: "reset" } },
  ]);

  expect(withoutMs).toBeGreaterThanOrEqual((EVENTS.length / CONNECTIONS) * LATENCY_MS);
  expect(withMs).toBeLessThanOrEqual(1.3 * withoutMs);
});

test.each<{ what: string; list: ListOptions; detail: DetailShape; settings?: Partial<RunSettings> }>([
  { what: "an array", list: { shape: "array" }, detail: "bare" },
  { what: "data: [...]", list: { shape: "data-array" }, detail: "data" },
  { what: "data: {uuid: ...}", list: { shape: "data-map" }, detail: "data-event" },
  { what: "data.events", list: { shape: "data-events" }, detail: "data" },
  { what: "pages by Link", list: { pageSize: 7, members: { top: '"total":20' } }, detail: "data" },
  {
    what: "somewhere else, by pointers",
    list: { shape: "result-items" },
    detail: "result-item",
    settings: { listPointer: "/result/items", detailPointer: "/result/item" },
  },
])("a shape that the service may have is read: $what", async ({ list, detail, settings = {} }) => {
  await using sandbox = await Sandbox.start(
    { events: makeEvents(20), list, detail: { shape: detail } },
    settings,
  );

  const { row } = await sandbox.run();

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: 20, listed: 20 });
  expect(await sandbox.events()).toEqual(sandbox.truth());
});
