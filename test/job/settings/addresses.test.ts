import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endpoint } from "../../../lambdas/job/service/requests/api-client.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { baseUrl } from "../../../lambdas/job/settings/values.ts";

/** What people paste after an address. */
const pasted = fc.array(fc.constantFrom("/", "/v1", "/v1/events", "/v1/auth/login", "/brands", "/events"));

describe("the base URL", () => {
  it("in its canonical form is its own canonical form", () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.constantFrom("", ".", ".."), pasted, (url, dots, parts) => {
        const dotted = url.replace(/^https?:\/\/[^/?#:]+/, (host) => host.replace(/^http:/, "https:") + dots);
        const once = baseUrl.parse(dotted + parts.join(""));

        expect(baseUrl.parse(once)).toBe(once);
      }),
    );
  });

  it.each([
    ["https://api.example.com", "https://api.example.com/v1/events"],
    ["https://api.example.com/", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1/", "https://api.example.com/v1/events"],
    [" https://api.example.com/v1\n", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1/events", "https://api.example.com/v1/events"],
    ["https://api.example.com/v1/auth/login/", "https://api.example.com/v1/events"],
    ["https://api.example.com/brands/v1/v1/events", "https://api.example.com/brands/v1/events"],
    ["https://api.example.com/v1/brands", "https://api.example.com/v1/brands/v1/events"],
    ["https://api.example.com:8443/brands/v1/", "https://api.example.com:8443/brands/v1/events"],
    ["https://api.example.com/av1", "https://api.example.com/av1/v1/events"],
    ["https://api.example.com//evil.test", "https://api.example.com//evil.test/v1/events"],
    ["http://localhost:8080", "http://localhost:8080/v1/events"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/events"],
    ["http://127.1:80/", "http://127.0.0.1/v1/events"],
    ["https://bücher.example:443/v1", "https://xn--bcher-kva.example/v1/events"],
    ["https://api.example.com//v1/events", "https://api.example.com/v1/events"],
    ["http://[::1]:8080/", "http://[::1]:8080/v1/events"],
    ["https://API.example.com./v1", "https://api.example.com/v1/events"],
    ["https://api.example.com..:8443", "https://api.example.com:8443/v1/events"],
    ["http://localhost.:8080", "http://localhost:8080/v1/events"],
  ])("%s leads to %s", (text, expected) => {
    expect(endpoint(new URL(baseUrl.parse(text)), "/v1/events").href).toBe(expected);
  });

  it.each([
    ["", "expected an absolute URL"],
    ["api.example.com", "expected an absolute URL"],
    ["localhost:8080", "expected an absolute URL"],
    ["ftp://api.example.com", "expected an absolute URL"],
    ["me:secret@api.example.com", "expected an absolute URL"],
    ["api.example.com?token=secret", "expected an absolute URL"],
    ["api.example.com/#secret", "expected an absolute URL"],
    ["https://user@api.example.com", "expected a URL without a user name and password"],
    ["https://user:secret@api.example.com", "expected a URL without a user name and password"],
    ["https://api.example.com?key=secret", "expected a URL without a query or a fragment"],
    ["https://api.example.com/#secret", "expected a URL without a query or a fragment"],
    ["http://api.example.com", "accepted for loopback hosts only"],
    ["http://localhost.example.com", "accepted for loopback hosts only"],
    ["http://127.0.0.1.example.com", "accepted for loopback hosts only"],
    ["http://10.0.0.1", "accepted for loopback hosts only"],
    ["http://[::ffff:127.0.0.1]", "accepted for loopback hosts only"],
    ["http://0.0.0.0", "accepted for loopback hosts only"],
  ])("%s is refused: %s", (text, problem) => {
    expect(() => parseSetting(baseUrl, text)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(problem) }),
    );
    expect(() => parseSetting(baseUrl, text)).not.toThrow("secret");
  });
});
