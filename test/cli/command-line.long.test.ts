// The command line as a whole: the job from check to query, what it refuses before it begins, what it says beside results, and
// in a network with a proxy and a private certificate authority.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TlsOptions } from "node:tls";
import { describe, expect, test } from "vitest";
import { TABLES } from "../../lambdas/job/storage/layout.ts";
import {
  AUTHORITY,
  type Certificate,
  INTERMEDIATE,
  proxyServer,
  tlsServer,
} from "../job/service/http/local-server.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { against, type EndedProcess, laptop, lastJson, SYNC, sync, syncProcess } from "./command-line.ts";

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];

test("check, run, status and query do the whole job and speak JSON", async () => {
  const { command, ask } = await laptop({ events: makeEvents(12) });

  const check = await ask("check", "--json");
  const run = await ask("run", "--fresh", "--json");
  const status = await command("status", "--account", "default", "--json");
  const query = await command("query", "--json", "SELECT count(*) AS n, min(account) FROM events");

  expect([check, run, status, query].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  expect(lastJson(check)).toEqual({
    ok: true,
    checks: ["credentials", "login", "list", "detail", "store", "catalog", "snapshot"].map((name) => ({
      name,
      ok: true,
      code: null,
      remedy: null,
    })),
    doubt: expect.stringContaining("12 entries came"),
  });
  const { doubt, ...row } = lastJson(run);
  expect(Object.keys(row)).toEqual(TABLES.sync_runs.columns.map(({ name }) => name));
  expect(doubt).toContain("12 entries came");
  expect(row).toMatchObject({ outcome: "PUBLISHED", trigger: "manual", events: 12, added: 12, requests: 14 });
  expect(lastJson(status)).toMatchObject({
    account: "default",
    head: { publication: "0000000001", snapshot_id: row["snapshot_id"], events: 12 },
    lease: null,
    held: [],
    runs: [row],
  });
  expect(lastJson(query)).toEqual({ columns: ["n", "min(account)"], rows: [["12", "default"]] });
});

test.each([
  { what: "an option", args: ["run"], code: "CONFIG_INVALID" },
  { what: "a usage error", args: ["run", "--nonsense"], code: "CONFIG_INVALID" },
  { what: "a missing file", args: ["run", ...LOOPBACK], code: "CREDENTIALS_INVALID" },
  { what: "an id", args: ["accept", "2026-01-01T00-00-00.000Z"], code: "SNAPSHOT_NOT_FOUND" },
])("BRAND_JSON=true gives a line of JSON for a failure by $what", async ({ args, code }) => {
  const ended = await sync(args, { cwd: await temporaryDirectory(), env: { BRAND_JSON: "true" } });

  expect(ended.exitCode).toBe(2);
  expect(lastJson(ended)).toMatchObject({ outcome: "FAILED", error_code: code });
});

// The values of options are judged in `options/read-options.test.ts`.
test.each([
  { what: "an unknown option", args: ["run", ...LOOPBACK, "--log-file", "x"], says: "unknown option" },
  { what: "an unknown command", args: ["authorise"], says: "unknown command" },
  {
    what: "--limit without --dry-run",
    args: ["run", ...LOOPBACK, "--limit", "3"],
    says: "--limit needs --dry-run",
  },
  { what: "no credentials file", args: ["run", ...LOOPBACK], says: '{"method":"session"' },
  {
    what: "two forms of rows",
    args: ["query", "SELECT 1", "--json", "--format", "csv"],
    says: "--json and --format csv are two forms of the result. Leave one",
    isJson: true,
  },
  {
    what: "two forms of fields",
    args: ["discover", "--sql", "--json"],
    says: "--json and --sql are two forms of the result. Leave one",
    isJson: true,
  },
])("$what exits with 2 and a message that says what to do", async ({ args, says, isJson = false }) => {
  const { exitCode, stdout, stderr } = await sync(args, { cwd: await temporaryDirectory() });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(stdout.includes("CONFIG_INVALID")).toBe(isJson);
});

test("a credentials file that others may read is used with a warning; one that is not there is named", async () => {
  const world = await laptop({ events: makeEvents(3) });
  await chmod(join(world.cwd, "credentials.json"), 0o644);

  const read = await world.ask("check");
  const missing = await world.ask("check", "--credentials", "./secrets/uk.json");

  expect(read.exitCode).toBe(0);
  expect(read.stderr).toContain("chmod 600");
  expect(missing.exitCode).toBe(2);
  expect(missing.stdout).toContain(
    `The credentials file ${join(world.cwd, "secrets/uk.json")} does not exist`,
  );
});

test("check continues after a failure and gives each its remedy", async () => {
  const world = await laptop({ account: { disabled: true } });

  const ended = await world.ask("check", "--json");

  expect(ended.exitCode).toBe(1);
  expect(lastJson(ended)).toMatchObject({
    ok: false,
    checks: [
      { name: "credentials", ok: true },
      {
        name: "login",
        ok: false,
        code: "ACCOUNT_DISABLED",
        remedy: expect.stringMatching(/operator|support/),
      },
      { name: "store", ok: true },
      { name: "catalog", ok: true },
      { name: "snapshot", ok: true },
    ],
  });
});

test.each([
  { level: [], says: 0 },
  { level: ["--log-level", "debug"], says: 1 },
])("a log $level has $says lines for each retry", async ({ level, says }) => {
  const fault = { kind: "status", status: 503, headers: { "retry-after": "0" } } as const;
  const world = await laptop({
    events: makeEvents(3),
    faults: [{ match: { path: "list" }, fault }],
  });

  const { exitCode, stderr } = await world.ask("run", ...level);

  expect(exitCode).toBe(0);
  expect(stderr.split("next attempt in").length - 1).toBe(says);
  expect(stderr).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 3 events are listed$/m);
});

const NO_FILE = "/no/such/file";
/** A machine where AWS was never set up. */
const NO_AWS = {
  AWS_REGION: "",
  AWS_DEFAULT_REGION: "",
  AWS_PROFILE: "",
  AWS_ACCESS_KEY_ID: "",
  AWS_CONFIG_FILE: NO_FILE,
  AWS_SHARED_CREDENTIALS_FILE: NO_FILE,
  AWS_EC2_METADATA_DISABLED: "true",
};

test("query of a warehouse in S3 exits with 2 and names Athena", async () => {
  const ended = await sync(["query", "SELECT 1", "--warehouse", "s3://bucket"], { cwd: "/" });

  expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("is read with Athena") });
});

test.each([
  {
    what: "no region",
    args: ["status", "--warehouse", "s3://bucket"],
    says: "No AWS region is set. Set AWS_REGION",
  },
  {
    what: "no credentials for AWS",
    args: ["status", "--warehouse", "s3://bucket"],
    env: { AWS_REGION: "eu-west-1" },
    says: "No AWS credentials were found. Log in to AWS",
  },
])("$what exits with 2 and a message that says what to do", async ({ args, env, says }) => {
  const ended = await syncProcess(args, { cwd: await temporaryDirectory(), env: { ...NO_AWS, ...env } });

  expect(ended.stderr).toContain(says);
  expect(ended.stderr).not.toMatch(/^ {4}at /m);
  expect(ended.exitCode).toBe(2);
});

test("in a folder that is deleted, one line says so", async () => {
  const cwd = await temporaryDirectory();
  const start = ["-c", 'rmdir "$PWD"; exec "$@"', "sh", process.execPath, SYNC];

  const { status, stderr } = spawnSync("sh", [...start, "status", "--config", "/none.json"], {
    cwd,
    encoding: "utf8",
  });

  expect(status).toBe(1);
  expect(stderr).toBe(
    "The current folder is not known: there is no such file or folder (ENOENT). Change to another one and start again.\n",
  );
});

/** One run against https://service.test, which only a proxy can reach, in a process of its own. */
async function runThroughProxy(
  certificate: Certificate,
  env: Readonly<Record<string, string>>,
  options: TlsOptions = {},
): Promise<EndedProcess & { readonly requests: readonly string[] }> {
  const { cwd, simulator } = await laptop();
  await using tls = await tlsServer(certificate, simulator.url, options);
  await using proxy = await proxyServer(tls.url);
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
