import { describe, expect, it } from "vitest";
import { redirected } from "../../../../lambdas/job/service/requests/failure.ts";

const URL_OF_LIST = new URL("https://api.example.com/v1/events?is_listed=true");
const errorFor = (location: string | undefined) => {
  const headers = new Map(location === undefined ? [] : [["location", [location]] as const]);
  return redirected("GET /v1/events", URL_OF_LIST, {
    status: 302,
    headers,
    body: { kind: "unread" },
    decodedBytes: 0,
  });
};

describe("a redirect", () => {
  it.each([
    ["https://evil.test/v1/events?token=secret#secret", "https://evil.test"],
    ["https://user:secret@evil.test/secret;jsessionid=secret", "https://evil.test"],
    ["//evil.test/secret", "https://evil.test"],
    ["http://api.example.com/secret", "http://api.example.com"],
    ["https://api.example.com:8443/secret", "https://api.example.com:8443"],
    ["/login;jsessionid=secret?next=secret", "another path of https://api.example.com"],
    ["/v1/events;secret", "another path of https://api.example.com"],
    ["/", "another path of https://api.example.com"],
    ["/v1/events/?secret", "another path of https://api.example.com"],
    ["https://api.example.com./v1/events/", "another path of https://api.example.com"],
    [`/${"x".repeat(16_000)}`, "another path of https://api.example.com"],
    [`https://${"x.".repeat(8_000)}test/`, "something that is not a web address"],
    ["https://[", "something that is not a web address"],
    ["javascript:secret", "something that is not a web address"],
    [undefined, "nowhere (no Location header)"],
  ])("to %s is said to lead to %s", (location, target) => {
    const error = errorFor(location);

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", fields: { target } });
    expect(error.message).toContain(`a redirect to ${target}, which is not followed`);
    expect(error.message).not.toContain("secret");
  });

  const LOGIN =
    "probably leads to a login page, because the session, token or password of this request was not";
  it.each([
    ["/login", LOGIN],
    ["https://api.example.com/v1/events/login", LOGIN],
    ["http://api.example.com/login", LOGIN],
    ["/v1/events", LOGIN],
    ["/v1/events/", "adds a slash to the end of the path or takes it away"],
    [
      "http://api.example.com/v1/events/?is_listed=true",
      "adds a slash to the end of the path or takes it away",
    ],
  ])("within the service, to %s, says what that probably means and what to check", (location, meaning) => {
    const { message } = errorFor(location);

    expect(message).toContain(meaning);
    expect(message).toMatch(/Check .*--base-url.* right, ask the service's operator\.$/);
    expect(message).not.toContain("belong to");
  });

  it("to another origin says that the credentials do not go there", () => {
    expect(errorFor("https://api.example.com:8443/login").message).toContain("belong to --base-url only");
  });

  it("is no advice to trust where it leads: the operator knows the address", () => {
    const { message } = errorFor("https://evil.test/");

    expect(message).toContain("Ask the service's operator");
    expect(message).not.toMatch(/set --base-url/i);
  });
});
