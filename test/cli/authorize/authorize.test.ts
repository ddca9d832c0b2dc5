// `authorize` as a person uses it, the browser that it opens, and the page that this gets in the end.

import { createHash } from "node:crypto";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resultPage, SAFE_HEADERS, systemBrowser } from "../../../bin/cli/authorize/receive-answer.ts";
import { tokensText } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { sampleTokens } from "../../job/credentials/tokens/memory-token-store.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../../simulator/account.ts";
import type { IdentityProvider } from "../../simulator/identity/identity-provider.ts";
import { decide } from "../../simulator/identity/person.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { against, type Ended, lastJson, type SyncOptions, stoppedAt, sync } from "../command-line.ts";
import { authorizing, printedAddress, visit } from "./around-authorize.ts";

const ELSEWHERE = "https://app.example/brand/callback";

let cwd: string;
let redirectUri: string;
let provider: IdentityProvider;
beforeEach(async () => {
  ({ cwd, redirectUri, provider } = await authorizing("uk.json", ELSEWHERE));
});

const authorize = (args: readonly string[] = [], options: Partial<SyncOptions> = {}): Promise<Ended> =>
  sync(
    [
      "authorize",
      "--auth-url",
      provider.url,
      "--credentials",
      "uk.json",
      "--redirect-uri",
      redirectUri,
      ...args,
    ],
    { cwd, ...options },
  );

/** A person with a browser; `change` is what happens to the address that it is sent to. */
const person =
  (decision: "allow" | "deny" = "allow", change = (address: string): string => address) =>
  async (address: string): Promise<boolean> => {
    const sentTo = await decide(address, { user: provider.user, decision });
    void visit(change(sentTo));
    return true;
  };

/** What is said and stored must not hold these. */
function expectNoSecret({ stdout, stderr }: Ended): void {
  for (const secret of Object.values(CANARY)) expect(stdout + stderr).not.toContain(secret);
}

describe("authorize", () => {
  test("stores the tokens of a person's login, in place of earlier ones, which the next run uses", async () => {
    await using service = await Simulator.start({ events: makeEvents(3), bearer: provider });
    await writeFile(join(cwd, "uk.tokens.json"), tokensText(sampleTokens("earlier")), { mode: 0o600 });

    const ended = await authorize([], { openBrowser: person() });

    expect(ended.exitCode).toBe(0);
    expect(ended.stdout).toMatch(/^Authorized: the tokens are stored in the file .*uk\.tokens\.json\. /);
    expectNoSecret(ended);
    const file = join(cwd, "uk.tokens.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).not.toContain(CANARY.clientSecret);
    const options = ["--auth-url", provider.url, "--credentials", "uk.json", "--json"];
    const run = await sync(["run", ...against(service), ...options], { cwd });
    expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED", events: 3 });
    expect(provider.counts).toMatchObject({ codeExchanges: 1, refreshes: 0 });
  });

  test("ends with an error, and stores nothing, at a denial", async () => {
    const ended = await authorize(["--json"], { openBrowser: person("deny") });

    expect(ended.exitCode).toBe(1);
    expect(lastJson(ended)).toEqual({ ok: false });
    expect(ended.stderr).toContain("AUTHORIZATION_EXPIRED: The access was denied");
    expectNoSecret(ended);
    await expect(stat(join(cwd, "uk.tokens.json"))).rejects.toThrow("ENOENT");
  });

  test("takes the answer of a provider that ignores PKCE, state and the redirect address with --paste", async () => {
    provider.configure({ extras: "ignores" });
    const stopped = stoppedAt("authorize again with --paste");

    const listened = await authorize([], { openBrowser: person(), ...stopped });
    const pasted = await paste(redirectUri);

    expect([listened.exitCode, pasted.exitCode]).toEqual([130, 0]);
    expect((await stat(join(cwd, "uk.tokens.json"))).isFile()).toBe(true);
  });

  test.each([
    ["session", { method: "session", email: "a@b.example", password: "p" }, "needs no authorization"],
    ["no client_secret", { method: "oauth", client_id: "c" }, "client_secret"],
  ])("refuses credentials with %s before it opens a browser", async (_, credentials, message) => {
    await writeFile(join(cwd, "uk.json"), JSON.stringify(credentials), { mode: 0o600 });

    const { exitCode, stderr } = await authorize([], {
      openBrowser: () => Promise.reject(new Error("opened")),
    });

    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^CREDENTIALS_INVALID: /);
    expect(stderr).toContain(message);
  });

  test("refuses a place for the tokens that cannot be written, before it opens a browser", async () => {
    const openBrowser = (): Promise<boolean> => Promise.reject(new Error("opened"));

    const { exitCode, stderr } = await authorize(["--tokens", "no/such/folder/uk.json"], { openBrowser });

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^STORE_FAILED: Could not read or write the tokens in .*no\/such\/folder\/uk\.json/,
    );
  });

  test.each([
    [["authorize"], "--auth-url"],
    [["authorize", "--auth-url", "https://x.example", "--redirect-uri", ELSEWHERE], "--paste"],
    [
      ["authorize", "--auth-url", "https://x.example", "--credentials", "none.json"],
      "none.json does not exist",
    ],
  ])("%s is refused and says: %s", async (args, message) => {
    const { exitCode, stderr } = await sync(args, { cwd });

    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

/** Opens the printed address elsewhere, and pastes where the browser ended. */
async function paste(redirect: string): Promise<Ended> {
  const stdin = new PassThrough();
  let said = "";
  const ended = authorize(["--paste", "--redirect-uri", redirect], {
    stdin,
    onStderr: (text) => {
      said += text;
    },
  });
  await expect.poll(() => said).toContain("What you paste is not shown.");
  const sentTo = await decide(printedAddress(said), { user: provider.user, decision: "allow" });
  stdin.write(`${sentTo}\n`);
  return ended;
}

describe("authorize --paste", () => {
  test("takes the address that the browser ended at, and listens nowhere", async () => {
    const ended = await paste(ELSEWHERE);

    expect(ended.exitCode).toBe(0);
    expectNoSecret(ended);
    expect(provider.counts.codeExchanges).toBe(1);
  });
});

describe("the browser of a person", () => {
  const ADDRESS = "https://login.example/oauth/authorize?a=1&b='%22$(id)";
  const path = process.env["PATH"];

  let folder: string;
  beforeEach(async () => {
    folder = await temporaryDirectory();
    process.env["PATH"] = `${folder}${delimiter}/bin`;
  });
  afterEach(() => {
    process.env["PATH"] = path;
  });

  async function program(name: string, lines: string): Promise<void> {
    await writeFile(join(folder, name), `#!/bin/sh\n${lines}\n`);
    await chmod(join(folder, name), 0o755);
  }

  describe.skipIf(process.platform === "win32")("the browser", () => {
    test.each([
      ["linux", "xdg-open", `[ "$#" = 1 ] && printf %s "$1"`],
      ["darwin", "open", `[ "$#" = 1 ] && printf %s "$1"`],
      ["win32", "rundll32", `[ "$1" = url.dll,FileProtocolHandler ] && printf %s "$2"`],
    ] as const)("on %s is opened by %s, which gets the address as it is", async (platform, name, lines) => {
      await program(name, `${lines} > ${folder}/seen`);

      expect(await systemBrowser(platform)(ADDRESS)).toBe(true);

      expect(await readFile(join(folder, "seen"), "utf8")).toBe(ADDRESS);
    });

    test("is not open where its program fails or does not exist", async () => {
      expect(await systemBrowser("linux")(ADDRESS)).toBe(false);
      await program("xdg-open", "exit 3");
      expect(await systemBrowser("linux")(ADDRESS)).toBe(false);
    });
  });

  const body = resultPage({
    kind: "failed",
    title: `<script>alert("1")</script>`,
    paragraphs: ["a & b", `</p><img src=x onerror='x'>`],
  });

  test("nothing is loaded, run, framed, stored or told to another page", () => {
    const style = /<style>([^<]*)<\/style>/.exec(body)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");

    expect(SAFE_HEADERS).toEqual({
      "cache-control": "no-store",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const tags = [...body.matchAll(/<(\w+)/g)].map(([, tag]) => tag);
    expect([...new Set(tags)].toSorted()).toEqual([
      "body",
      "h1",
      "head",
      "html",
      "main",
      "meta",
      "p",
      "style",
      "title",
    ]);
  });

  test("it is light and dark, and as wide as the screen", () => {
    expect(body).toContain("color-scheme: light dark");
    expect(body).toContain("prefers-color-scheme: dark");
    expect(body).toContain('name="viewport"');
  });
});
