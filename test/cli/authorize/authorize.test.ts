import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../../simulator/account.ts";
import { IdentityProvider } from "../../simulator/identity/identity-provider.ts";
import { decide } from "../../simulator/identity/person.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { against, type Ended, lastJson, type SyncOptions, sync } from "../command-line.ts";
import { printedAddress } from "./authorize-process.ts";
import { freeRedirectUri } from "./free-port.ts";
import { ask, visit } from "./visit.ts";

const ELSEWHERE = "https://app.example/brand/callback";

let cwd: string;
let redirectUri: string;
let provider: IdentityProvider;
beforeEach(async () => {
  cwd = await temporaryDirectory();
  redirectUri = await freeRedirectUri();
  provider = await IdentityProvider.start({ client: { redirectUris: [redirectUri, ELSEWHERE] } });
  await writeCredentials(provider.credentials);
});
afterEach(() => provider.stop());

const writeCredentials = (credentials: object): Promise<void> =>
  writeFile(join(cwd, "uk.json"), JSON.stringify(credentials), { mode: 0o600 });

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
  test("stores the tokens of a person's login, which the next run uses", async () => {
    await using service = await Simulator.start({ events: makeEvents(3), bearer: provider });

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

  test("sends exactly the documented parameters, and those that protect the code", async () => {
    await authorize([], { openBrowser: person() });

    const [asked] = provider.requests;
    const exchange = provider.requests.find(({ target }) => target === "authorization_code");
    expect(Object.keys(asked?.parameters ?? {}).toSorted()).toEqual([
      "client_id",
      "code_challenge",
      "code_challenge_method",
      "redirect_uri",
      "response_type",
      "scope",
      "state",
    ]);
    expect(exchange?.parameters).toEqual({
      client_id: "brand-client",
      client_secret: CANARY.clientSecret,
      grant_type: "authorization_code",
      code: expect.stringContaining(CANARY.code),
      code_verifier: expect.stringMatching(/^[\w.~-]{43,128}$/),
      redirect_uri: redirectUri,
    });
    expect(exchange?.headers["authorization"]).toBeUndefined();
    expect(exchange?.headers["content-type"]).toMatch(/^application\/x-www-form-urlencoded/);
  });

  test("says with --json whether it worked", async () => {
    const allowed = await authorize(["--json"], { openBrowser: person() });
    const denied = await authorize(["--json"], { openBrowser: person("deny") });

    expect(lastJson(allowed)).toEqual({ ok: true });
    expect(lastJson(denied)).toEqual({ ok: false });
    expect([allowed.exitCode, denied.exitCode]).toEqual([0, 1]);
  });

  test.each([
    ["a denial", person("deny"), 1, "AUTHORIZATION_EXPIRED: The access was denied"],
    [
      "another code",
      person("allow", (address) => address.replace(/code=[^&]*/, "code=other")),
      1,
      "AUTHORIZATION_EXPIRED: The identity provider does not accept the code",
    ],
  ])("ends with an error, and stores nothing, at %s", async (_, openBrowser, exitCode, message) => {
    const ended = await authorize([], { openBrowser });

    expect(ended.exitCode).toBe(exitCode);
    expect(ended.stderr).toContain(message);
    expectNoSecret(ended);
    await expect(stat(join(cwd, "uk.tokens.json"))).rejects.toThrow("ENOENT");
  });

  const withoutState = person("allow", (address) => address.replace(/&state=[^&]*/, ""));
  const atTerminal = (): PassThrough & { isTTY: true } =>
    Object.assign(new PassThrough(), { isTTY: true as const });

  test("works with a provider that returns no state, once the person has confirmed it", async () => {
    const stdin = atTerminal();

    const ended = await authorize([], {
      openBrowser: withoutState,
      stdin,
      onStderr: (text) => void (text.includes("Then type yes") && stdin.write("yes\n")),
    });

    expect(ended.exitCode).toBe(0);
    expect((await stat(join(cwd, "uk.tokens.json"))).isFile()).toBe(true);
  });

  test("takes an answer without state at once with --yes, and says so", async () => {
    const ended = await authorize(["--yes"], { openBrowser: withoutState });

    expect(ended.exitCode).toBe(0);
    expect(ended.stderr).toContain("Its answer has no state");
  });

  test("tells of foreign answers, exchanges none of them, and takes the person's own", async () => {
    const own = person();
    const pages: string[] = [];
    const ended = await authorize([], {
      openBrowser: async (address) => {
        for (const query of ["code=attacker", "code=attacker&state=x", "error=access_denied"])
          pages.push((await ask(`${redirectUri}?${query}`)).body);
        return own(address);
      },
    });

    expect(ended.exitCode).toBe(0);
    expect(provider.counts.codeExchanges).toBe(1);
    expect(pages.every((page) => page.includes("This is not the expected answer"))).toBe(true);
    expect(ended.stderr).toContain("An answer came without state");
    expect(ended.stderr).toContain("An answer came that does not belong to this authorization");
    expect(ended.stderr).not.toContain("attacker");
  });

  test("ends with CREDENTIALS_INVALID at a wrong client secret", async () => {
    await writeCredentials({ ...provider.credentials, client_secret: "wrong-secret" });

    const ended = await authorize([], { openBrowser: person() });

    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain("CREDENTIALS_INVALID: The identity provider does not accept the client");
    expect(ended.stderr).not.toContain("wrong-secret");
  });

  test("works with a provider that ignores PKCE, state and the redirect address", async () => {
    provider.configure({ extras: "ignores" });

    const listened = await authorize(["--yes"], { openBrowser: person() });
    const pasted = await paste(redirectUri, (address) => address);

    expect([listened.exitCode, pasted.exitCode]).toEqual([0, 0]);
  });

  test("replaces the tokens of an earlier authorization", async () => {
    await authorize([], { openBrowser: person() });
    const before = await readFile(join(cwd, "uk.tokens.json"), "utf8");

    const ended = await authorize([], { openBrowser: person() });

    expect(ended.exitCode).toBe(0);
    expect(await readFile(join(cwd, "uk.tokens.json"), "utf8")).not.toBe(before);
  });

  test.each([
    ["session", { method: "session", email: "a@b.example", password: "p" }, "needs no authorization"],
    ["no client_secret", { method: "oauth", client_id: "c" }, "client_secret"],
  ])("refuses credentials with %s before it opens a browser", async (_, credentials, message) => {
    await writeCredentials(credentials);

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
    [["authorize", "--auth-url", "https://x.example", "--redirect-uri", "http://x.example/"], "loopback"],
    [["authorize", "--auth-url", "http://x.example"], "https:"],
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
async function paste(redirect: string, change: (address: string) => string): Promise<Ended> {
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
  stdin.write(`${change(sentTo)}\n`);
  return ended;
}

describe("authorize --paste", () => {
  test("takes the address that the browser ended at, and listens nowhere", async () => {
    const ended = await paste(ELSEWHERE, (address) => address);

    expect(ended.exitCode).toBe(0);
    expectNoSecret(ended);
    expect(provider.counts.codeExchanges).toBe(1);
  });

  test("checks the state as well", async () => {
    const ended = await paste(ELSEWHERE, (address) => address.replace(/state=[^&]*/, "state=x"));

    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toContain("its state is another one");
    expect(provider.counts.codeExchanges).toBe(0);
  });
});
