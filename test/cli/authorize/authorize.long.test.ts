// `authorize` in a process of its own: what the system sees of it, and how it is stopped.

import { execFileSync } from "node:child_process";
import { beforeEach, expect, test } from "vitest";
import { CANARY } from "../../simulator/account.ts";
import type { IdentityProvider } from "../../simulator/identity/identity-provider.ts";
import { decide } from "../../simulator/identity/person.ts";
import { startSync, syncProcess } from "../command-line.ts";
import { authorizing, printedAddress, startAuthorize, visit } from "./around-authorize.ts";

let cwd: string;
let provider: IdentityProvider;
let options: readonly string[];
beforeEach(async () => {
  const { redirectUri, ...world } = await authorizing("credentials.json");
  ({ cwd, provider } = world);
  options = ["--auth-url", provider.url, "--redirect-uri", redirectUri];
});

test("a second authorize says that the port is taken; Ctrl-C ends the first one with 130", async () => {
  const first = await startAuthorize(options, { cwd });

  const second = await syncProcess(["authorize", "--no-browser", ...options], { cwd });
  first.process.kill("SIGINT");
  const { exitCode, stderr } = await first.ended;

  expect(second.exitCode).toBe(2);
  expect(second.stderr).toMatch(
    /^CONFIG_INVALID: The answer cannot be received at \S+: another program listens/,
  );
  expect(second.stderr).toContain("--redirect-uri");
  expect(second.stderr).toContain("--paste");
  expect(exitCode).toBe(130);
  expect(stderr).toContain("INTERRUPTED: Stopped before the authorization was complete. Nothing was stored.");
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test.skipIf(process.platform === "win32")(
  "the list of processes shows no secret while the code is exchanged",
  async () => {
    const { process: child, address, ended } = await startAuthorize(options, { cwd });
    provider.configure({ latencyMs: 300 });
    const sentTo = await decide(address, { user: provider.user, decision: "allow" });

    const page = visit(sentTo);
    await expect.poll(() => provider.counts.codeExchanges).toBe(1);
    const processes = execFileSync("ps", ["-o", "args=", "-p", String(child.pid)], { encoding: "utf8" });
    await page;

    expect((await ended).exitCode).toBe(0);
    expect(processes).toContain("authorize");
    for (const secret of Object.values(CANARY)) expect(processes).not.toContain(secret);
  },
);

test("an address that is pasted through a pipe ends the program, although the pipe stays open", async () => {
  const { process: child, ended } = startSync(["authorize", "--paste", ...options], { cwd, stdin: "pipe" });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  await expect.poll(() => said, { timeout: 20_000 }).toContain("What you paste is not shown.");

  const sentTo = await decide(printedAddress(said), { user: provider.user, decision: "allow" });
  child.stdin?.write(`${sentTo}\n`);

  expect(await ended).toMatchObject({ exitCode: 0, signal: null });
});
