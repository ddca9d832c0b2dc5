import { describe, expect, it } from "vitest";
import { hostileEvents } from "../../../simulator/hostile-events.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, texts, truth } from "../connection.ts";

const EVENTS = makeEvents(3, { length: 400 });

describe("a detail", () => {
  it.each([
    [403, "forbidden"],
    [404, "gone"],
    [410, "gone"],
  ])("that is answered with %i is left out as %s, after one request", async (code, reason) => {
    const uuid = EVENTS[1]?.uuid ?? "";
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { uuid }, fault: { kind: "status", status: code } }],
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
