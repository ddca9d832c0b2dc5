import fc from "fast-check";
import { expect, test } from "vitest";
import { endpoint, endpointsBelow } from "../../../lambdas/job/service/endpoint.ts";

const BASES = [
  "https://service.test",
  "http://127.0.0.1:8080/",
  "https://[::1]:8443/api",
  "https://ä.test/a%20b/c",
];

test("the addresses below a path are those that a parser of URLs makes", () => {
  // A parser resolves a name that is "." or "..". No event has such a name.
  const name = fc.string({ unit: "grapheme" }).filter((text) => text !== "." && text !== "..");
  fc.assert(
    fc.property(fc.constantFrom(...BASES), fc.oneof(fc.uuid(), name), (base, each) => {
      const url = new URL(base);

      const address = endpointsBelow(url, "/v1/events/")(each);

      const { href, origin, pathname, search } = endpoint(url, `/v1/events/${encodeURIComponent(each)}`);
      expect(address).toEqual({ href, origin, pathname, search });
    }),
  );
});

test.each([
  ["https://service.test/", "https://service.test/v1/events/a"],
  ["https://service.test:8443/api/", "https://service.test:8443/api/v1/events/a"],
])("below %s an address is %s", (base, expected) => {
  expect(endpointsBelow(new URL(base), "/v1/events/")("a").href).toBe(expected);
});
