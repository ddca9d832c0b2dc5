import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { awsClient } from "../../../lambdas/job/network/aws-client.ts";
import { readProxies } from "../../../lambdas/job/network/proxies.ts";
import { inTimeEnough } from "../runtime/time-enough.ts";
import {
  AUTHORITY,
  httpServer,
  neverAnswers,
  proxyServer,
  rawServer,
  tlsServer,
} from "../service/http/local-server.ts";

const read = async (
  endpoint: string,
  environment: Readonly<Record<string, string>>,
  connectionTimeout?: number,
): Promise<string> => {
  const client = new S3Client({
    ...awsClient(readProxies(environment), connectionTimeout),
    maxAttempts: 1,
    endpoint,
    forcePathStyle: true,
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: "bucket", Key: "key" }));
    return (await Body?.transformToString()) ?? "";
  } finally {
    client.destroy();
  }
};

test("a client of AWS sends its requests through the proxy of HTTP_PROXY", async () => {
  await using proxy = await proxyServer(403);

  expect(await read("http://s3.test", { HTTP_PROXY: proxy.url })).toBe("through the proxy");
  expect(proxy.requests).toEqual(["GET http://s3.test/bucket/key?x-id=GetObject"]);
});

test("a client of AWS opens a tunnel through the proxy of HTTPS_PROXY", async () => {
  await using proxy = await proxyServer(403);

  await expect(read("https://s3.test", { HTTPS_PROXY: proxy.url })).rejects.toThrow();
  expect(proxy.requests).toEqual(["CONNECT s3.test:443"]);
});

test("a client of AWS ends a tunnel that a proxy never finishes, byte by byte", async () => {
  await using proxy = await rawServer(neverAnswers);

  await expect(read("https://s3.test", { HTTPS_PROXY: proxy.url }, 200)).rejects.toThrow("200 ms");

  await expect.poll(() => proxy.connections).toBe(1);
  await expect.poll(() => proxy.open).toBe(0);
});

test.each([
  ["service.test", "through a tunnel"],
  ["127.0.0.1", "directly"],
])("a connection to %s that is open in time is left alone (%s)", async (hostname) => {
  const slow = await inTimeEnough(200, async (limitMs) => {
    await using server = await httpServer(
      (_, response) => void setTimeout(() => response.end("slow"), 2 * limitMs),
    );
    await using tls = await tlsServer("service", server.url);
    await using proxy = await proxyServer(tls.url);
    const { requestHandler } = awsClient(readProxies({ HTTPS_PROXY: proxy.url }), limitMs);
    const { httpsAgent: agent } = { httpsAgent: undefined, ...requestHandler };
    const { port } = new URL(tls.url);

    const request = httpsRequest({ hostname, port, agent, ca: readFileSync(AUTHORITY) }).end();
    try {
      const [response] = await once(request, "response");
      return await text(response);
    } catch (error) {
      if (server.connections > 0) throw error;
      return undefined;
    } finally {
      agent?.destroy();
    }
  });

  expect(slow).toBe("slow");
});

test.each(["127.0.0.1", "localhost"])("a client of AWS reaches %s directly", async (host) => {
  await using proxy = await proxyServer(403);
  await using server = await httpServer((_, response) => response.end("direct"));

  expect(await read(server.url.replace("127.0.0.1", host), { HTTP_PROXY: proxy.url })).toBe("direct");
  expect(proxy.requests).toEqual([]);
});

test.each(["s3.test", ".test", "test"])("a client of AWS obeys NO_PROXY=%s", async (none) => {
  await using proxy = await proxyServer(403);

  await expect(read("http://s3.test", { HTTP_PROXY: proxy.url, NO_PROXY: none })).rejects.toThrow();
  expect(proxy.requests).toEqual([]);
});

test.each([
  ["2001:DB8:0::1", []],
  ["[2001:db8::1]", []],
  ["[2001:db8::1]:8080", []],
  ["[2001:db8::1]:9090", ["GET http://[2001:db8::1]:8080/bucket/key?x-id=GetObject"]],
])("a client of AWS obeys NO_PROXY=%s for an IPv6 address", async (none, requests) => {
  await using proxy = await proxyServer(403);
  const environment = { HTTP_PROXY: proxy.url, NO_PROXY: none };

  await read("http://[2001:db8::1]:8080", environment, 200).catch(() => undefined);

  expect(proxy.requests).toEqual(requests);
});

test("a client of AWS has the SDK's own agents without a proxy", () => {
  expect(Object.keys(awsClient(readProxies({})).requestHandler)).toEqual([
    "connectionTimeout",
    "socketTimeout",
  ]);
});
