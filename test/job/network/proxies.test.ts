import { describe, expect, it } from "vitest";
import { agentProxies, type Proxies, proxyFor, readProxies } from "../../../lambdas/job/network/proxies.ts";

const PROXY = "http://proxy.test:3128";

const through = (url: string, environment: Readonly<Record<string, string>>): string | undefined =>
  proxyFor(new URL(url), readProxies(environment))?.href;

describe("a request", () => {
  it.each([
    ["https://service.test/", { HTTPS_PROXY: PROXY }, `${PROXY}/`],
    ["https://service.test/", { https_proxy: PROXY, HTTPS_PROXY: "http://other.test" }, `${PROXY}/`],
    ["https://service.test/", { https_proxy: "", HTTPS_PROXY: PROXY }, `${PROXY}/`],
    ["https://service.test/", { HTTPS_PROXY: "proxy.test:3128" }, `${PROXY}/`],
    ["https://service.test/", { HTTPS_PROXY: "https://u:p@proxy.test" }, "https://u:p@proxy.test/"],
    ["https://service.test/", { HTTP_PROXY: PROXY }, undefined],
    ["http://service.test/", { HTTP_PROXY: PROXY }, `${PROXY}/`],
    ["http://service.test/", { HTTPS_PROXY: PROXY }, undefined],
    ["https://service.test/", {}, undefined],
  ])("to %s with %j goes through %s", (url, environment, expected) => {
    expect(through(url, environment)).toBe(expected);
  });

  it.each([
    "http://localhost:8080",
    "https://localhost",
    "https://127.0.0.1:8443",
    "https://127.8.9.10",
    "https://[::1]:8443",
  ])("to %s goes through no proxy", (url) => {
    expect(through(url, { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY })).toBeUndefined();
  });

  it.each([
    ["*", true],
    ["service.test", true],
    ["SERVICE.test", true],
    ["other.test,service.test", true],
    ["other.test service.test", true],
    ["other.test, service.test", true],
    ["test", true],
    [".test", true],
    ["*.test", true],
    ["service.test:443", true],
    ["service.test:8443", false],
    ["vice.test", false],
    ["api.service.test", false],
    ["service.test.", true],
    [".service.test.", true],
    ["*:443", false],
    ["", false],
    [" , ", false],
  ])("to https://service.test with NO_PROXY=%s is direct: %s", (none, isDirect) => {
    const proxy = through("https://service.test", { HTTPS_PROXY: PROXY, NO_PROXY: none });

    expect(proxy === undefined).toBe(isDirect);
  });

  it.each([
    ["2001:db8::1", true],
    ["[2001:db8::1]", true],
    ["2001:DB8::1", true],
    ["2001:0db8:0:0:0:0:0:1", true],
    ["[2001:0DB8:0000::0001]:8443", true],
    ["a.test,2001:DB8::1 b.test", true],
    ["[2001:db8::1]:443", false],
    ["2001:db8::2", false],
    ["db8::1", false],
    ["::1", false],
    ["2001:db8::/32", false],
  ])("to https://[2001:db8::1]:8443 with NO_PROXY=%s is direct: %s", (none, isDirect) => {
    const proxy = through("https://[2001:db8::1]:8443", { HTTPS_PROXY: PROXY, NO_PROXY: none });

    expect(proxy === undefined).toBe(isDirect);
  });

  it("to a name with umlauts is direct where NO_PROXY has it as people write it", () => {
    const proxy = through("https://xn--mnchen-3ya.test", { HTTPS_PROXY: PROXY, NO_PROXY: "MÜNCHEN.test" });

    expect(proxy).toBeUndefined();
  });

  it.each([
    "socks5://user:secret@proxy.test",
    "http://",
    "//user:secret@proxy test",
    "http://user:sec%ret@proxy.test",
  ])("with the unusable proxy %s ends with CONFIG_INVALID, which does not repeat it", (text) => {
    expect(() => through("https://service.test", { HTTPS_PROXY: text })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.not.stringMatching(/sec%?ret/),
        fields: { setting: "HTTPS_PROXY" },
      }),
    );
  });
});

describe("the settings of Node.js's agents", () => {
  it("are none without a proxy", () => {
    expect(agentProxies(readProxies({ NO_PROXY: "service.test" }))).toBeUndefined();
  });

  it("exempt loopback, and of each name in NO_PROXY the host and all below it", () => {
    expect(
      agentProxies(readProxies({ https_proxy: "proxy.test:3128", NO_PROXY: ".a.test,*,b.test:8080" })),
    ).toEqual({
      HTTPS_PROXY: `${PROXY}/`,
      NO_PROXY: "localhost,127.0.0.1-127.255.255.255,[::1],::1,a.test,.a.test,*,b.test:8080,.b.test:8080",
    });
  });

  it("name an IPv6 address in its one form, with brackets and without", () => {
    const none = "2001:0DB8::0001,[2001:DB8::2]:8080,c.test.";

    expect(agentProxies(readProxies({ https_proxy: PROXY, NO_PROXY: none }))?.NO_PROXY).toBe(
      "localhost,127.0.0.1-127.255.255.255,[::1],::1,[2001:db8::1],2001:db8::1," +
        "[2001:db8::2]:8080,2001:db8::2:8080,c.test,.c.test",
    );
  });
});

describe("certificates that are not checked", () => {
  it.each([proxyFor, (_: URL, proxies: Proxies) => agentProxies(proxies)])("are refused by %o", (use) => {
    const proxies = readProxies({ NODE_TLS_REJECT_UNAUTHORIZED: "0" });

    expect(() => use(new URL("https://service.test"), proxies)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        next: [expect.stringContaining("NODE_EXTRA_CA_CERTS")],
        fields: { setting: "NODE_TLS_REJECT_UNAUTHORIZED" },
      }),
    );
  });

  it.each(["1", "", "false"])("are not what NODE_TLS_REJECT_UNAUTHORIZED=%j says, as in Node.js", (value) => {
    const proxies = readProxies({ NODE_TLS_REJECT_UNAUTHORIZED: value });

    expect(proxyFor(new URL("https://service.test"), proxies)).toBeUndefined();
  });
});
