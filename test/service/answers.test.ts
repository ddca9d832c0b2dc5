import { describe, expect, it } from "vitest";
import type { Fault } from "../simulator/faults.ts";
import { hostileEvents } from "../simulator/hostile-events.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, said, secrets, texts, truth } from "./connection.ts";
import { httpServer } from "./local-server.ts";

const EVENTS = makeEvents(3, { length: 400 });
const status = (code: number, headers: Readonly<Record<string, string>> = {}): Fault => ({
  kind: "status",
  status: code,
  headers,
});

const TEMPORARY: readonly Fault[] = [
  ...[408, 425, 429, 500, 502, 503, 504].map((code) => status(code)),
  { kind: "reset" },
  { kind: "reset-mid-body" },
  { kind: "truncate" },
  { kind: "cut" },
  { kind: "hang" },
  { kind: "hang-mid-body" },
  { kind: "html" },
  { kind: "body", text: "" },
  { kind: "body", text: '{"data":' },
  { kind: "body", text: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
];
const named = (faults: readonly Fault[]) => faults.map((fault) => [describeFault(fault), fault] as const);
const describeFault = (fault: Fault): string =>
  "status" in fault
    ? `${fault.kind} ${fault.status}`
    : `${fault.kind} ${"text" in fault ? JSON.stringify(fault.text) : ""}`;

describe.each(["list", "detail"] as const)("an answer to a %s request that time may mend", (path) => {
  it.each(named(TEMPORARY))("is asked for again: %s", async (_, fault) => {
    await using connection = await connect(
      { events: EVENTS, faults: [{ match: { path, times: 2 }, fault }] },
      { timeoutMs: 150 },
    );
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 1);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts).toMatchObject({ faults: 2, logins: 1 });
    expect(service.counts).toMatchObject({ requests: 1 + 1 + EVENTS.length + 2, retries: 2 });
    expect(service.counts.bytes).toBeLessThanOrEqual(simulator.counts.bytes);
  });

  it.each(named([...TEMPORARY.filter(({ kind }) => !kind.startsWith("hang"))]))(
    "ends the run when it comes six times: %s",
    async (_, fault) => {
      await using connection = await connect({
        events: EVENTS,
        faults: [{ match: { path, times: Infinity }, fault }],
      });
      const { service, simulator, log } = connection;

      const error = await errorOf(fetchAll(service, 1));

      const throttled = fault.kind === "status" && fault.status === 429;
      expect(error).toMatchObject({
        code: throttled ? "THROTTLED" : "SERVICE_UNAVAILABLE",
        message: expect.stringMatching(/^GET \/v1\/events.* failed 6 times, the last time with .+\. .+\.$/),
        fields: { attempts: 6 },
        mendedByRetry: true,
      });
      expect(simulator.counts.faults).toBe(6);
      for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
    },
  );
});

describe("a detail", () => {
  it.each([
    [403, "forbidden"],
    [404, "gone"],
    [410, "gone"],
  ])("that is answered with %i is left out as %s, after one request", async (code, reason) => {
    const uuid = EVENTS[1]?.uuid ?? "";
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { uuid }, fault: status(code) }],
    });

    const { details } = await fetchAll(connection.service, 1);

    expect(details.get(uuid)).toEqual({ kind: "left-out", reason });
    expect(connection.service.counts).toMatchObject({ retries: 0, requests: 5 });
  });

  it("over the cap is left out, after one request", async () => {
    await using connection = await connect(
      { events: makeEvents(2, { length: 5_000 }) },
      { detailCapBytes: 4_000 },
    );

    const { details } = await fetchAll(connection.service, 1);

    expect([...details.values()]).toEqual([
      { kind: "left-out", reason: "oversize" },
      { kind: "left-out", reason: "oversize" },
    ]);
    expect(connection.simulator.counts.details).toBe(2);
  });

  it("over the cap only when it is unpacked is left out too", async () => {
    await using connection = await connect(
      { events: makeEvents(1, { length: 50_000 }), encoding: "gzip" },
      { detailCapBytes: 40_000 },
    );

    const { details } = await fetchAll(connection.service, 1);

    expect([...details.values()]).toEqual([{ kind: "left-out", reason: "oversize" }]);
  });

  it("with another uuid is asked for again, and ends the run when it comes six times", async () => {
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { path: "detail", times: 5 }, fault: { kind: "wrong-uuid" } }],
    });
    const { service, simulator } = connection;

    expect(texts(await fetchAll(service, 1))).toEqual(truth(simulator));
    simulator.configure({ faults: [{ match: { path: "detail", times: 6 }, fault: { kind: "wrong-uuid" } }] });
    const error = await errorOf(service.detail(EVENTS[0]?.uuid ?? ""));

    expect(error).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringContaining("another uuid"),
    });
  });

  it.each(["bare", "data", "data-event"] as const)("is read from the shape %s", async (shape) => {
    await using connection = await connect({ events: EVENTS, detail: { shape } });

    expect(texts(await fetchAll(connection.service, 1))).toEqual(truth(connection.simulator));
  });

  it("is read from where the pointer says", async () => {
    await using connection = await connect(
      { events: EVENTS, detail: { shape: "result-item" } },
      { detailPointer: "/result/item" },
    );

    expect(texts(await fetchAll(connection.service, 1))).toEqual(truth(connection.simulator));
  });

  it.each([["hostile", hostileEvents()]])(
    "arrives as it was sent (%s events), however it is packed",
    async (_, events) => {
      for (const encoding of [undefined, "gzip", "br"] as const) {
        await using connection = await connect({ events, encoding });

        const fetched = await fetchAll(connection.service, 8);

        for (const { uuid, source } of events) {
          const text = texts(fetched).get(uuid.toLowerCase());
          expect(JSON.stringify(JSON.parse(text ?? ""))).toBe(JSON.stringify(JSON.parse(source)));
        }
        expect(fetched.list.events).toHaveLength(events.length);
      }
    },
  );
});

describe("an answer that nothing mends", () => {
  const wrong: readonly (readonly ["list" | "detail", Fault, string, string])[] = [
    ["list", status(403), "NOT_ENTITLED", "may not list events"],
    ["list", status(404), "UNEXPECTED_RESPONSE", "--base-url"],
    ["list", status(410), "UNEXPECTED_RESPONSE", "status 410"],
    ["list", status(400), "UNEXPECTED_RESPONSE", "status 400"],
    ["detail", status(400), "UNEXPECTED_RESPONSE", "status 400"],
    ["detail", status(418), "UNEXPECTED_RESPONSE", "status 418"],
    [
      "list",
      { kind: "redirect", location: "https://sso.example.test/?t=canary-body" },
      "UNEXPECTED_RESPONSE",
      "https://sso.example.test/,",
    ],
    ["detail", { kind: "redirect", location: "/login", status: 307 }, "UNEXPECTED_RESPONSE", "/login,"],
    ["list", { kind: "body", text: '{"error":"canary-body"}' }, "UNEXPECTED_RESPONSE", "--list-pointer"],
    ["detail", { kind: "body", text: '{"error":"canary-body"}' }, "UNEXPECTED_RESPONSE", "--detail-pointer"],
  ];
  it.each(wrong)("to a %s request ends the run at once: %j, %s, %s", async (path, fault, code, text) => {
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { path, times: Infinity }, fault }],
    });
    const { service, simulator, log } = connection;

    const error = await errorOf(fetchAll(service, 1));

    expect(error).toMatchObject({ code, message: expect.stringContaining(text), mendedByRetry: false });
    expect(simulator.counts.faults).toBe(1);
    for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
  });

  it("is a content encoding that was not asked for", async () => {
    await using server = await httpServer((request, response) => {
      if (request.method === "POST") response.setHeader("set-cookie", "s=1").end();
      else response.setHeader("content-encoding", "canary-body").end("[]");
    });
    await using connection = await connect({}, { baseUrl: server.url });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("gzip, br"),
    });
    expect(said(error, connection.log)).not.toContain("canary-body");
  });
});

describe("one who gives up", () => {
  it.each(["login", "list", "detail"] as const)(
    "is let go at once, in the middle of a %s request",
    async (path) => {
      const abort = new AbortController();
      await using connection = await connect({
        events: EVENTS,
        faults: [{ match: { path, times: Infinity }, fault: { kind: "hang" } }],
        onRequest: ({ endpoint }) => {
          if (endpoint === path) setTimeout(() => abort.abort(new Error("stop")), 10);
        },
      });

      const fetching = (async () => {
        const { events } = await connection.service.list(abort.signal);
        for (const { requestAs } of events) await connection.service.detail(requestAs, abort.signal);
      })();

      await expect(fetching).rejects.toThrow("stop");
    },
  );

  it("is let go while it waits for the next attempt", async () => {
    const abort = new AbortController();
    await using connection = await connect({
      faults: [{ match: { path: "list", times: Infinity }, fault: status(503, { "retry-after": "600" }) }],
      onRequest: ({ endpoint }) => {
        if (endpoint === "list") setTimeout(() => abort.abort(new Error("stop")), 10);
      },
    });

    await expect(connection.service.list(abort.signal)).rejects.toThrow("stop");
    expect(connection.simulator.counts.list).toBe(1);
  });
});

describe("a service client", () => {
  it.each([[{ baseUrl: "http://example.com" }], [{ listPointer: "data" }], [{ detailPointer: "/~2" }]])(
    "is refused with the settings %j",
    async (options) => {
      await expect(connect({}, options)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    },
  );
});
