// Credentials, cookies and tokens go to the origin that they belong to, and to no other, whatever a response says.

import { describe, expect, it } from "vitest";
import { METHODS } from "../../../../lambdas/job/credentials/credentials.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, failedList, secrets } from "../connection.ts";
import { httpServer } from "../http/local-server.ts";

describe.each(METHODS)("with the method %s", (method) => {
  it("a redirect to another origin is not followed", async () => {
    let asked = 0;
    await using other = await httpServer((_, response) => {
      asked += 1;
      response.end("[]");
    });
    const fault = { kind: "redirect", location: `${other.url}/v1/events` } as const;

    const { error, text } = await failedList(
      { faults: [{ match: { path: "list", times: Infinity }, fault }] },
      { method },
    );

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
    expect(asked).toBe(0);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it("a next page at another origin, of which the port is one part, is not asked for", async () => {
    let asked = 0;
    await using other = await httpServer((_, response) => {
      asked += 1;
      response.end("[]");
    });
    const list = { pageSize: 1, nextUrl: () => `${other.url}/v1/events?page=2` };

    const { error } = await failedList({ events: makeEvents(3), list }, { method });

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining(other.url),
    });
    expect(asked).toBe(0);
  });

  it("the secrets of the identity provider do not reach the service, nor those of the service the provider", async () => {
    const received: string[] = [];
    await using service = await httpServer((request, response) => {
      received.push(JSON.stringify(request.headers) + request.url);
      response.writeHead(401).end();
    });
    await using connection = await connect({}, { method, baseUrl: service.url });
    const { provider, place } = connection.authorized;

    await errorOf(connection.service.list());

    const { client_secret } = provider.credentials;
    const refreshTokens = [place.tokens?.refresh_token ?? client_secret, client_secret];
    expect(refreshTokens.filter((secret) => received.join().includes(secret))).toEqual([]);
    const atProvider = JSON.stringify(provider.requests);
    expect(atProvider).not.toContain(connection.simulator.credentials.password);
    expect(atProvider).not.toContain("Bearer");
  });
});
