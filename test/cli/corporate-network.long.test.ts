import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TlsOptions } from "node:tls";
import { describe, expect, test } from "vitest";
import {
  AUTHORITY,
  type Certificate,
  INTERMEDIATE,
  proxyServer,
  tlsServer,
} from "../job/service/http/local-server.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, type EndedProcess, syncProcess, writeCredentials } from "./command-line.ts";

/** One run against https://service.test, which only a proxy can reach, in a process of its own. */
async function runThroughProxy(
  certificate: Certificate,
  env: Readonly<Record<string, string>>,
  options: TlsOptions = {},
): Promise<EndedProcess & { readonly requests: readonly string[] }> {
  await using simulator = await Simulator.start();
  await using tls = await tlsServer(certificate, simulator.url, options);
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

  test("a run succeeds with the certificate that a server leaves out of its chain", async () => {
    const file = join(await temporaryDirectory(), "authorities.pem");
    await writeFile(file, Buffer.concat([AUTHORITY, INTERMEDIATE].map((path) => readFileSync(path))));

    const { exitCode } = await runThroughProxy("below-intermediate", { NODE_EXTRA_CA_CERTS: file });

    expect(exitCode).toBe(0);
  });

  test.each([
    ["service", {}, "set the environment variable NODE_EXTRA_CA_CERTS"],
    [
      "expired",
      { NODE_EXTRA_CA_CERTS: AUTHORITY },
      "the certificate of service.test is not valid now (CERT_HAS_EXPIRED)",
    ],
    ["other-host", { NODE_EXTRA_CA_CERTS: AUTHORITY }, "the certificate of service.test is for other hosts"],
    ["sha1", { NODE_EXTRA_CA_CERTS: AUTHORITY }, "or that of its authority, is too weak (CERT_TOO_WEAK)"],
    ["short", { NODE_EXTRA_CA_CERTS: AUTHORITY }, "or that of its authority, is too weak (CERT_TOO_WEAK)"],
    ["below-intermediate", { NODE_EXTRA_CA_CERTS: AUTHORITY }, "came without that of its issuer"],
    [
      "service",
      { NODE_EXTRA_CA_CERTS: AUTHORITY },
      "service.test refuses the TLS connection (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)",
      { requestCert: true, rejectUnauthorized: true },
    ],
  ] as const)("a run with the certificate %s and %j ends at once: %s", async (...given) => {
    const [certificate, env, problem, options] = given;

    const { exitCode, stderr, requests } = await runThroughProxy(certificate, env, options);

    expect(exitCode).toBe(1);
    expect(stderr).toContain(problem);
    expect(requests).toHaveLength(1);
  });
});
