import { describe, expect, it } from "vitest";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, said, secrets } from "../connection.ts";

describe("HTTP Basic", () => {
  it("sends the credentials with every request and never logs in", async () => {
    await using connection = await connect({ events: makeEvents(2) }, { method: "basic" });
    const { service, simulator } = connection;

    await service.logIn();
    await service.list();

    expect(simulator.counts).toMatchObject({ requests: 1, logins: 0, unauthenticated: 0 });
  });

  it("ends the run with the first 401", async () => {
    await using connection = await connect({ account: { methods: ["session"] } }, { method: "basic" });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining("method basic"),
    });
    expect(connection.simulator.counts.requests).toBe(1);
    for (const secret of secrets) expect(said(error, connection.log)).not.toContain(secret);
  });
});
