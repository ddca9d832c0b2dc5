import { describe, expect, it } from "vitest";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, said, secrets } from "../connection.ts";
import { httpServer, rawServer } from "../http/local-server.ts";

describe("session cookies", () => {
  it.each([
    ["without a path", "HttpOnly"],
    ["for the whole host", "Path=/; Secure; HttpOnly; SameSite=Strict"],
    ["for the events only", "Path=/v1/events"],
    ["that last", "Path=/; Max-Age=3600"],
  ])("%s are sent", async (_, attributes) => {
    await using connection = await connect({ session: { attributes } });

    await connection.service.list();

    expect(connection.simulator.counts).toMatchObject({ logins: 1, unauthenticated: 0 });
  });

  it.each([
    ["for another path", "Path=/admin"],
    ["for another host", "Domain=example.test; Path=/"],
    ["that are over", "Path=/; Max-Age=0"],
  ])("%s are no session", async (_, attributes) => {
    await using connection = await connect({ session: { attributes } });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("set 2 cookies"),
    });
    for (const secret of secrets) expect(said(error, connection.log)).not.toContain(secret);
  });

  it("that a response renews replace the old ones", async () => {
    const cookies: (string | undefined)[] = [];
    await using server = await httpServer((request, response) => {
      cookies.push(request.headers.cookie);
      response.setHeader("set-cookie", `s=${cookies.length}`).end("[]");
    });
    await using connection = await connect({}, { baseUrl: server.url });

    await connection.service.list();
    await connection.service.list();

    expect(cookies).toEqual([undefined, "s=1", "s=2"]);
  });

  it("that a refusal clears are not mixed with those of the next login", async () => {
    await using connection = await connect({ events: makeEvents(2), session: { clearsCookies: true } });
    const { service, simulator } = connection;

    await service.list();
    simulator.endSessions();
    await service.list();

    expect(simulator.counts).toMatchObject({ logins: 2, unauthenticated: 1 });
  });

  it.each([
    [50, "few"],
    [51, "51 cookies"],
    [1_000, "1000 cookies"],
  ])("that a login sets %i of are %s", async (count, text) => {
    await using server = await httpServer((_, response) =>
      response
        .setHeader(
          "set-cookie",
          Array.from({ length: count }, (__, n) => `s${n}=1`),
        )
        .end("[]"),
    );
    await using connection = await connect({}, { baseUrl: server.url });

    const list = connection.service.list();

    if (count <= 50) expect(await list).toMatchObject({ events: { length: 0 } });
    else {
      expect(await errorOf(list)).toMatchObject({
        code: "UNEXPECTED_RESPONSE",
        message: expect.stringContaining(
          `${text}. That is more than a session may have (50, and 16 KB in all)`,
        ),
      });
    }
  });

  it("that each response adds are limited, and the session stays", async () => {
    const cookies: string[] = [];
    await using server = await httpServer((request, response) => {
      cookies.push(request.headers.cookie ?? "");
      const n = cookies.length;
      const bomb = [`extra${n}=${"x".repeat(3_000)}`, `over${n}=1; Max-Age=0; Path=/${n}`, `renewed=${n}`];
      response.setHeader("set-cookie", n === 1 ? ["session=1", "renewed=1"] : bomb).end("[]");
    });
    await using connection = await connect({}, { baseUrl: server.url });

    for (let n = 0; n < 20; n += 1) await connection.service.list();

    const last = cookies.at(-1) ?? "";
    expect(last.length).toBeLessThan(16_384);
    expect(last).toMatch(/^session=1; renewed=20; extra2=x+; extra3=/);
  });

  it("stay with the exact origin", async () => {
    const reached: string[] = [];
    await using other = await rawServer(() => reached.push("other"));
    await using connection = await connect({
      events: makeEvents(2),
      list: { pageSize: 1, nextUrl: (relative) => other.url + relative },
    });

    const error = await errorOf(connection.service.list());

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", message: expect.stringContaining(other.url) });
    expect(reached).toEqual([]);
  });
});
