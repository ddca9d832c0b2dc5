// Completeness: whatever the service does, a snapshot has every listed event or accounts for it, or there is none.

import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-ports.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import type { DetailShape } from "../../../../simulator/detail-endpoint.ts";
import type { Fault, FaultMatch } from "../../../../simulator/faults.ts";
import type { ListOptions } from "../../../../simulator/list-endpoint.ts";
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
    if (fault.kind.startsWith("hang")) sandbox.timeoutMs = 300;

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
    expect(sandbox.store.keys(layout.snapshot(ACCOUNT, row.run_id))).toEqual([]);
    expect(await sandbox.events()).toEqual(before);
    const lasts = error?.isRetryable === true;
    expect(sandbox.store.keys(layout.outcome(ACCOUNT, row.run_id))).toHaveLength(lasts ? 0 : 1);
  });

  test("such as a service that nobody answers for fails the run as SERVICE_UNAVAILABLE", async () => {
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

  test("is mended by the next start, which fetches only what is missing", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(12) }, { shardSize: 4, concurrency: 1 });
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

describe("a listed event without details", () => {
  test("is left out and counted: forbidden, gone twice, oversize", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(100) });
    const [forbidden, gone404, gone410, oversize] = sandbox.simulator.listed().map(({ uuid }) => uuid);
    if (!forbidden || !gone404 || !gone410 || !oversize) throw new Error("too few events");
    sandbox.simulator.restrict(forbidden);
    sandbox.simulator.vanish(gone404);
    sandbox.simulator.vanish(gone410, 410);
    sandbox.simulator.change(oversize, {
      source: `{"uuid":"${oversize}","text":"${"x".repeat(4 * 1024 * 1024)}"}`,
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({
      outcome: "PUBLISHED",
      listed: 100,
      events: 96,
      forbidden: 1,
      gone: 2,
      rejected: 1,
    });
    const expected = new Map(sandbox.truth());
    for (const uuid of [forbidden, gone404, gone410, oversize]) expected.delete(uuid);
    expect(await sandbox.events()).toEqual(expected);
    const leftOut = sandbox.store.text(layout.leftOut(ACCOUNT, row.run_id))?.trimEnd().split("\n");
    expect(leftOut?.map((line) => JSON.parse(line)).toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1))).toEqual(
      [
        { uuid: forbidden, reason: "forbidden" },
        { uuid: gone404, reason: "gone" },
        { uuid: gone410, reason: "gone" },
        { uuid: oversize, reason: "oversize" },
      ].toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1)),
    );
  });

  test("has an entry without a uuid: rejected; a repeated entry is collapsed and counted", async () => {
    const events = makeEvents(50);
    await using sandbox = await Sandbox.start({
      events,
      list: { extra: ['{"name":"no uuid"}', '{"uuid":"not one"}'], duplicates: 3 },
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 52, events: 50, rejected: 2 });
    const manifest = JSON.parse(sandbox.store.text(layout.manifest(ACCOUNT, row.run_id)) ?? "");
    expect(manifest.counts).toMatchObject({ listed: 52, events: 50, rejected: 2, repeated: 3 });
  });
});

describe("a shape the service may have", () => {
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
  ])("is read: $what", async ({ list, detail, settings = {} }) => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(20), list, detail: { shape: detail } },
      settings,
    );

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 20, listed: 20 });
    expect(await sandbox.events()).toEqual(sandbox.truth());
  });

  test.each<{ what: string; list: ListOptions; code: ErrorCode }>([
    { what: "a total above what came", list: { members: { top: '"total":21' } }, code: "LIST_INCOMPLETE" },
    { what: "a next link in the body", list: { pageSize: 7, next: "body" }, code: "LIST_INCOMPLETE" },
    {
      what: "pages to another origin",
      list: { pageSize: 7, nextUrl: (to) => `http://127.0.0.2:1${to}` },
      code: "UNEXPECTED_RESPONSE",
    },
    {
      what: "pages without end",
      list: { pageSize: 7, nextUrl: () => "/v1/events?is_listed=true&page=2" },
      code: "UNEXPECTED_RESPONSE",
    },
    { what: "an unknown place", list: { shape: "result-items" }, code: "UNEXPECTED_RESPONSE" },
  ])("is refused with $code: $what", async ({ list, code }) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(20), list });

    const { row, error } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "FAILED", error_code: code });
    expect(error?.message.length).toBeGreaterThan(40);
  });
});
