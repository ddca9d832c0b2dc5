import { describe, expect, it } from "vitest";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect } from "../connection.ts";

describe("an aborted request", () => {
  it.each(["login", "list", "detail"] as const)(
    "is let go at once, in the middle of a %s request",
    async (path) => {
      const abort = new AbortController();
      await using connection = await connect({
        events: makeEvents(3),
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
      faults: [
        {
          match: { path: "list", times: Infinity },
          fault: { kind: "status", status: 503, headers: { "retry-after": "600" } },
        },
      ],
      onRequest: ({ endpoint }) => {
        if (endpoint === "list") setTimeout(() => abort.abort(new Error("stop")), 10);
      },
    });

    await expect(connection.service.list(abort.signal)).rejects.toThrow("stop");
    expect(connection.simulator.counts.list).toBe(1);
  });
});
