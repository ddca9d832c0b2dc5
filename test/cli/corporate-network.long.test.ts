import { describe, expect, test } from "vitest";
import { proxyServer } from "../job/service/http/proxy-server.ts";
import { AUTHORITY, tlsServer } from "../job/service/http/tls-server.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, type EndedProcess, syncProcess, writeCredentials } from "./command-line.ts";

/** One run against https://service.test, which only a proxy can reach, in a process of its own. */
async function runThroughProxy(
  certificate: "service" | "expired" | "other-host",
  env: Readonly<Record<string, string>>,
): Promise<EndedProcess & { readonly requests: readonly string[] }> {
  await using simulator = await Simulator.start();
  await using tls = await tlsServer(certificate, simulator.url);
  await using proxy = await proxyServer(tls.url);
  const cwd = await temporaryDirectory();
  await writeCredentials(cwd, simulator);
  const args = ["run", ...against(simulator), "--base-url", "https://service.test"];
  const noProxy = { NO_PROXY: "", no_proxy: "" };
  const ended = await syncProcess(args, {
    cwd,
    env: { ...noProxy, HTTPS_PROXY: proxy.url, https_proxy: "", ...env },
  });
  return { ...ended, requests: proxy.requests };
}

describe("in a network with a proxy and a private certificate authority", () => {
  test("a run succeeds with HTTPS_PROXY and NODE_EXTRA_CA_CERTS", async () => {
    const { exitCode, requests } = await runThroughProxy("service", { NODE_EXTRA_CA_CERTS: AUTHORITY });

    expect(exitCode).toBe(0);
    expect(requests[0]).toBe("CONNECT service.test:443");
  });

  test.each([
    ["service", {}, "set the environment variable NODE_EXTRA_CA_CERTS"],
    ["expired", { NODE_EXTRA_CA_CERTS: AUTHORITY }, "the certificate of service.test has expired"],
    ["other-host", { NODE_EXTRA_CA_CERTS: AUTHORITY }, "the certificate of service.test is for other hosts"],
  ] as const)("a run with the certificate %s and %j ends at once", async (certificate, env, problem) => {
    const { exitCode, stderr, requests } = await runThroughProxy(certificate, env);

    expect(exitCode).toBe(1);
    expect(stderr).toContain(problem);
    expect(requests).toHaveLength(1);
  });
});
