import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { readCommandLine } from "./command-line.ts";
import { Simulator } from "./simulator.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

const run = (...args: readonly string[]) => {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  return child;
};

const finish = async (...args: readonly string[]): Promise<{ code: unknown; out: string; err: string }> => {
  const child = run(...args);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, out, err };
};

describe("the simulator by hand", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "says where it is, obeys its controls, and ends cleanly at %s",
    async (signal) => {
      const child = run("--port", "0", "--events", "20");
      let out = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        out += chunk;
      });
      await expect.poll(() => out, { timeout: 5_000 }).toContain("Ctrl-C ends it.");
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? "";
      const credentials: unknown = JSON.parse(/\{.*\}/.exec(out)?.[0] ?? "");
      expect(credentials).toEqual({
        method: "session",
        email: "demo@example.test",
        password: "demo-password",
      });

      const body = JSON.stringify({ meta: { version: "v1" }, data: credentials });
      expect((await fetch(`${url}/v1/auth/login`, { method: "POST", body })).status).toBe(200);
      const change = await fetch(`${url}/_simulator/change`, { method: "POST" });
      expect(await change.json()).toEqual({ added: 5, changed: 8, archived: 3 });
      const counts = await fetch(`${url}/_simulator/counts`);
      expect(await counts.json()).toMatchObject({ requests: 1, loginsAccepted: 1, statuses: { "200": 1 } });
      expect((await fetch(`${url}/_simulator/change`)).status).toBe(404);

      child.kill(signal);
      expect(await once(child, "exit")).toEqual([0, null]);
    },
  );

  test("says that its port is taken", async () => {
    const first = await Simulator.start();
    const port = new URL(first.url).port;

    const { code, err } = await finish("--port", port);

    expect(code).toBe(1);
    expect(err).toBe(`Port ${port} is taken. Choose another: --port 8081, or --port 0 for any free one.\n`);
    await first.stop();
  });

  test("starts the identity provider of OAuth beside it, whose tokens it accepts", async () => {
    const child = run("--port", "0", "--auth-port", "0");
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      out += chunk;
    });
    await expect.poll(() => out, { timeout: 5_000 }).toContain("Ctrl-C ends it.");
    const [url = "", authUrl = ""] = [...out.matchAll(/listens at (http:\/\/127\.0\.0\.1:\d+)/g)].map(
      ([, found]) => found,
    );

    const refused = await fetch(`${authUrl}/oauth/token`, { method: "POST" });
    const list = await fetch(`${url}/v1/events`, { headers: { authorization: "Bearer none" } });

    expect([refused.status, list.status]).toEqual([401, 401]);
    expect(list.headers.get("www-authenticate")).toContain('Bearer realm="service"');
    expect(out).toContain(
      '{"method":"oauth","client_id":"demo-client","client_secret":"demo-client-secret"}',
    );
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("says what is wrong with an option, and ends with 2", async () => {
    const { code, out, err } = await finish("--events", "many");

    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain('--events is a whole number from 0 to 1000000, not "many".');
    expect(err).not.toContain("    at ");
  });

  test("shows its help", async () => {
    const { code, out } = await finish("--help");

    expect(code).toBe(0);
    expect(out).toContain("--requests-per-minute N");
  });
});

describe("the command line", () => {
  test("without options asks for 100 events at port 8080, without limits", () => {
    const options = readCommandLine([]);

    expect(options?.service.events).toHaveLength(100);
    expect(options?.identity).toBeUndefined();
    expect(options?.service).toMatchObject({
      port: 8080,
      latencyMs: 0,
      limits: {},
      list: { shape: "data-array" },
    });
  });

  test("takes every option", () => {
    const args =
      "--events 7 --port 0 --latency 20 --requests-per-minute 200 --bytes-per-minute 1000 --limit-window 600 --retry-after none --balancer --outage reset --outage-seconds 40 --encoding gzip --shape data-map --detail-shape bare --page-size 3 --late-list 2 --odd-details 3 --session-seconds 30 --session-end redirect --known-after 500 --auth-port 8090 --token-seconds 60 --rotation silent --grace 5 --redirect-uri http://127.0.0.1:1/x";

    const options = readCommandLine(args.split(" "));

    expect(options?.service.events).toHaveLength(7);
    expect(options?.service).toMatchObject({
      port: 0,
      latencyMs: 20,
      limits: {
        requestsPerWindow: 2_000,
        bytesPerWindow: 10_000,
        windowMs: 600_000,
        retryAfter: "none",
      },
      hasBalancer: true,
      outage: { kind: "reset", ms: 40_000 },
      encoding: "gzip",
      list: { shape: "data-map", pageSize: 3 },
      detail: { shape: "bare" },
      session: { maxAgeMs: 30_000, ends: "redirect", knownAfterMs: 500 },
    });
    expect(
      options?.service.faults?.map(({ match, fault }) => [match.times ?? match.uuids?.size, fault.kind]),
    ).toEqual([
      [1, "status"],
      [2, "status"],
      [1, "body"],
      [1, "body"],
      [0, "body"],
      [0, "status"],
      [0, "wrong-uuid"],
    ]);
    expect(options?.identity).toEqual({
      port: 8090,
      accessToken: { lifetimeMs: 60_000, knownAfterMs: 500 },
      refreshToken: { rotation: "silent", graceMs: 5_000 },
      client: { redirectUris: ["http://127.0.0.1:1/x"] },
    });
  });

  test.each([
    ["--refuse 2.5", { share: 0.025, each: true, times: 1 }, { status: 404 }],
    ["--refuse 100 --refuse-status 403 --refuse-times 3", { share: 1, times: 3 }, { status: 403 }],
    [
      "--refuse 1 --refuse-status 410 --refuse-seconds 30 --refuse-retry-after 20",
      { share: 0.01, times: Infinity, forMs: 30_000 },
      { status: 410, headers: { "retry-after": "20" } },
    ],
  ])("refuses details as a gateway does: %s", (args, match, fault) => {
    const options = readCommandLine(args.split(" "));

    expect(options?.service.faults?.[0]).toMatchObject({ match: { path: "detail", ...match }, fault });
  });

  test.each([
    ["--refuse", "101"],
    ["--refuse-status", "401"],
    ["--refuse-times", "0"],
    ["--refuse-seconds", "soon"],
    ["--refuse-retry-after", "-1"],
    ["--events", "-1"],
    ["--port", "65536"],
    ["--latency", "1.5"],
    ["--requests-per-minute", "0"],
    ["--limit-window", "9"],
    ["--retry-after", "later"],
    ["--outage", "flood"],
    ["--outage-seconds", "0"],
    ["--encoding", "deflate"],
    ["--shape", "tree"],
    ["--detail-shape", "tree"],
    ["--page-size", ""],
    ["--late-list", "-1"],
    ["--odd-details", "0"],
    ["--session-seconds", "0"],
    ["--session-end", "402"],
    ["--known-after", "soon"],
    ["--auth-port", "65536"],
    ["--token-seconds", "0"],
    ["--rotation", "weekly"],
    ["--grace", "-1"],
    ["--colour", "red"],
  ])("refuses %s %s and names the option", (option, value) => {
    expect(() => readCommandLine([`${option}=${value}`])).toThrow(option);
  });
});
