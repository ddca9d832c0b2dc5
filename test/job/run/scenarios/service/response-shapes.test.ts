import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import type { DetailShape } from "../../../../simulator/detail-endpoint.ts";
import type { ListOptions } from "../../../../simulator/list-endpoint.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { Sandbox } from "../../sandbox.ts";

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
    {
      what: "a cursor in the body",
      list: { pageSize: 7, next: "none", members: { top: '"next_cursor":"b"' } },
      code: "LIST_INCOMPLETE",
    },
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
