import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { expect, test } from "vitest";
import { Simulator } from "../simulator/simulator.ts";
import { AUTHORITY, readCertificate } from "./certificate.ts";

test("a simulated service with this certificate is reached over https by a client that knows the authority", async () => {
  await using simulator = await Simulator.start({ tls: readCertificate() });

  const request = get(`${simulator.url}/v1/events`, { ca: readFileSync(AUTHORITY), agent: false });
  const [response] = await once(request, "response");
  response.resume();

  expect(simulator.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(response.statusCode).toBe(401);
});
