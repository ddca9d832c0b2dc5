import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { NoResponse } from "../../../../lambdas/job/service/http/transport.ts";
import type { UndiciTransport } from "../../../../lambdas/job/service/http/undici-transport.ts";
import { errorOf } from "../connection.ts";
import { httpServer, neverAnswers, proxyServer, rawServer, tlsServer } from "./local-server.ts";
import { get, transport } from "./transport-setup.ts";

const through = (proxy: string, timeoutMs?: number): UndiciTransport => transport(timeoutMs, 1, proxy);

const withUser = (url: string): string => url.replace("//", "//us%40er:se%3Acret@");

describe("a tunnel", () => {
  it.each(["service.test:8080", "[2001:db8::1]:8080"])(
    "to %s carries requests, and is used again",
    async (host) => {
      await using service = await httpServer((_, response) => response.end("{}"));
      await using proxy = await proxyServer(service.url);
      const one = through(proxy.url);

      const responses = [await one.send(get(`http://${host}`)), await one.send(get(`http://${host}`))];

      expect(responses).toMatchObject([{ status: 200 }, { status: 200 }]);
      expect(proxy.requests).toEqual([`CONNECT ${host}`]);
    },
  );

  it("skips interim responses of the service", async () => {
    await using service = await rawServer((socket) =>
      socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
    );
    await using proxy = await proxyServer(service.url);

    expect(await through(proxy.url).send(get("http://service.test"))).toMatchObject({ status: 200 });
  });

  it("is requested with the proxy's user name and password, decoded", async () => {
    await using proxy = await proxyServer(407);

    await errorOf(through(withUser(proxy.url)).send(get("https://service.test")));

    const credentials = Buffer.from("us@er:se:cret").toString("base64");
    expect(proxy.requests).toEqual([`CONNECT service.test:443 Basic ${credentials}`]);
  });

  it.each([407, 403, 502])(
    "that is refused with status %i names the proxy without its credentials",
    async (status) => {
      await using proxy = await proxyServer(status);

      const error = await errorOf(through(withUser(proxy.url)).send(get("https://service.test")));

      expect(error).toBeInstanceOf(NoResponse);
      expect(error).toMatchObject({ reason: `PROXY_STATUS_${status}`, proxy: proxy.url });
    },
  );

  it.each([
    [["Negotiate"], "PROXY_WITHOUT_BASIC"],
    [["Negotiate", "NTLM"], "PROXY_WITHOUT_BASIC"],
    [['Digest realm="proxy", nonce="n", NTLM'], "PROXY_WITHOUT_BASIC"],
    [["Basicker"], "PROXY_WITHOUT_BASIC"],
    [["NTLM", 'basic realm="proxy"'], "PROXY_STATUS_407"],
    [['Negotiate, Basic realm="proxy"'], "PROXY_STATUS_407"],
    [["Basic"], "PROXY_STATUS_407"],
    [[], "PROXY_STATUS_407"],
  ])("that needs a login of the kinds %j is refused with %s", async (challenges, reason) => {
    await using proxy = await proxyServer(407, challenges);

    const error = await errorOf(through(withUser(proxy.url)).send(get("https://service.test")));

    expect(error).toMatchObject({ reason, proxy: proxy.url });
  });

  it.each([
    ["nothing listens", undefined, "ECONNREFUSED"],
    ["something else than HTTP comes", "garbage\r\n\r\n", "HPE_INVALID_CONSTANT"],
    ["nothing comes", "", "TIMED_OUT"],
  ])("cannot be opened where %s", async (_, text, reason) => {
    await using proxy = await rawServer((socket) => socket.write(text ?? ""));
    const url = text === undefined ? "http://127.0.0.1:1" : proxy.url;

    const error = await errorOf(through(url, 200).send(get("https://service.test")));

    expect(error).toBeInstanceOf(NoResponse);
    expect(error).toMatchObject({ reason, proxy: url });
  });

  it("cannot be opened through a proxy that sends its answer byte by byte, for ever", async () => {
    await using proxy = await rawServer(neverAnswers);

    const error = await errorOf(through(proxy.url, 200).send(get("https://service.test")));

    expect(error).toMatchObject({ reason: "TIMED_OUT", proxy: proxy.url });
    await expect.poll(() => proxy.open).toBe(0);
  });

  it.each([
    ["a tunnel", neverAnswers, "through"],
    ["a TLS handshake in a tunnel", (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\n\r\n"), "through"],
    ["a TLS handshake", () => undefined, "direct"],
  ])("close ends %s that is being opened", async (_, answer, way) => {
    await using server = await rawServer(answer);
    const stop = new AbortController();
    const one = transport(60_000, 1, way === "through" ? server.url : undefined);
    const url = way === "through" ? "https://service.test" : server.url.replace("http:", "https:");
    const sent = errorOf(one.send(get(url), stop.signal));
    await expect.poll(() => server.open).toBe(1);
    stop.abort(new Error("stopped"));
    await sent;

    await one.close();

    await expect.poll(() => server.open).toBe(0);
  });

  it("checks the certificate of the service, whose fault it is", async () => {
    await using service = await httpServer((_, response) => response.end("{}"));
    await using tls = await tlsServer("service", service.url);
    await using proxy = await proxyServer(tls.url);

    const error = await errorOf(through(proxy.url).send(get("https://service.test")));

    expect(error).toMatchObject({ reason: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", proxy: undefined });
  });
});
