// The proxy injects the faults of the test and no others.

import { createServer, type Server } from "node:http";
import { afterEach, expect, it } from "vitest";
import { AwsProxy } from "./aws-proxy.ts";

let upstream: Server | undefined;
afterEach(() => {
  upstream?.close();
});

/** A server that returns the method and the body of each request, and counts them. */
async function behind(): Promise<{ readonly proxy: AwsProxy; readonly served: () => number }> {
  let served = 0;
  upstream = createServer((request, response) => {
    served += 1;
    response.setHeader("etag", '"1"');
    request.on("data", (chunk) => response.write(chunk)).on("end", () => response.end(request.method));
  });
  await new Promise<void>((resolve) => upstream?.listen(0, "127.0.0.1", resolve));
  const address = upstream.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { proxy: await AwsProxy.start(`http://127.0.0.1:${port}`), served: () => served };
}

const put = (proxy: AwsProxy): Promise<Response> =>
  fetch(`${proxy.url}/key?x=1`, {
    method: "PUT",
    body: "body ",
    headers: { "x-amz-target": "Service.Call" },
  });

it("forwards requests and records them", async () => {
  const { proxy } = await behind();
  await using _ = proxy;

  const answer = await put(proxy);

  expect([answer.status, answer.headers.get("etag"), await answer.text()]).toEqual([200, '"1"', "body PUT"]);
  expect(proxy.asked).toEqual([{ method: "PUT", url: "/key?x=1", action: "Service.Call", index: 0 }]);
});

it.each([
  { fault: "lose-request", arrives: 0 },
  { fault: "lose-response", arrives: 1 },
] as const)("$fault breaks the connection; $arrives requests arrive", async ({ fault, arrives }) => {
  const { proxy, served } = await behind();
  await using _ = proxy;
  proxy.fault = () => fault;

  await expect(put(proxy)).rejects.toThrow();
  expect(served()).toBe(arrives);
});

it("cuts a response in the middle", async () => {
  const { proxy } = await behind();
  await using _ = proxy;
  proxy.fault = () => "cut-response";

  await expect(put(proxy).then((answer) => answer.text())).rejects.toThrow();
});

it("responds in place of the service", async () => {
  const { proxy, served } = await behind();
  await using _ = proxy;
  proxy.fault = () => ({ status: 403, body: "no", headers: { "x-a": "b" } });

  const answer = await put(proxy);

  expect([answer.status, answer.headers.get("x-a"), await answer.text()]).toEqual([403, "b", "no"]);
  expect(served()).toBe(0);
});
