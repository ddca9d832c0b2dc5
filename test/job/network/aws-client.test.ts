import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { awsClient } from "../../../lambdas/job/network/aws-client.ts";
import { readProxies } from "../../../lambdas/job/network/proxies.ts";
import { httpServer } from "../service/http/local-server.ts";
import { proxyServer } from "../service/http/proxy-server.ts";

const read = async (endpoint: string, environment: Readonly<Record<string, string>>): Promise<string> => {
  const client = new S3Client({
    ...awsClient(readProxies(environment)),
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

test("a client of AWS has the SDK's own agents without a proxy", () => {
  expect(Object.keys(awsClient(readProxies({})).requestHandler)).toEqual([
    "connectionTimeout",
    "socketTimeout",
  ]);
});
