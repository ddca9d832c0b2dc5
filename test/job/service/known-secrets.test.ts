// A service that echoes what it was sent: nothing of it comes into a message.

import { describe, expect, test } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { KnownSecrets } from "../../../lambdas/job/service/known-secrets.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Sandbox } from "../run/sandbox.ts";
import { LogLines } from "../runtime/log-lines.ts";
import { scriptedTransport } from "./http/scripted-transport.ts";
import { get } from "./http/transport-setup.ts";

const PASSWORD = 'hun ter2"ä/Ü';
const EMAIL = "someone@example.test";

const knowing = (password = PASSWORD): KnownSecrets => {
  const secrets = new KnownSecrets();
  secrets.know({ method: "session", email: EMAIL, password });
  return secrets;
};

describe("a message", () => {
  test.each([
    ["as it is", PASSWORD],
    ["in another case", PASSWORD.toLowerCase()],
    ["percent-encoded", encodeURIComponent(PASSWORD)],
    ["percent-encoded twice", encodeURIComponent(encodeURIComponent(PASSWORD))],
    ["as the path of a URL", new URL(`https://x.test/${PASSWORD}`).pathname.slice(1)],
    ["as a form", new URLSearchParams({ "": PASSWORD }).toString().slice(1)],
    ["as JSON", JSON.stringify(PASSWORD).slice(1, -1)],
    ["as JSON in JSON", JSON.stringify(JSON.stringify(PASSWORD)).slice(3, -3)],
    ["as ASCII JSON", 'hun ter2\\"\\u00e4/\\u00DC'],
    ["as the e-mail address", encodeURIComponent(EMAIL)],
  ])("shows no secret %s", (_, form) => {
    expect(knowing().masked(`a ${form} b`)).toBe("a <secret> b");
  });

  test.each(["", "x", "xy"])("shows no secret in base64, after %j", (before) => {
    const text = Buffer.from(`${before}hunter-2-ÿ?>ÿ?>${before}`, "utf8");

    for (const encoding of ["base64", "base64url"] as const) {
      const shown = knowing("hunter-2-ÿ?>ÿ?>").masked(text.toString(encoding));
      expect(shown).toMatch(/^.{0,4}<secret>.{0,5}$/);
    }
  });

  test.each([
    ["as it is", (token: string) => token],
    ["percent-encoded", (token: string) => token.replaceAll("-", "%2D")],
    ["in base64", (token: string) => Buffer.from(token).toString("base64")],
  ])("shows no token of 12,000 characters %s", (_, form) => {
    const token = "abc-DEF_ghi.".repeat(1_000);

    expect(knowing(token).masked(`a ${form(token)} b`)).toBe("a <secret> b");
  });

  test("keeps what is shorter than six characters", () => {
    expect(knowing("login").masked("the login failed")).toBe("the login failed");
  });

  test("shows no token and no cookie that was sent or set, but words", async () => {
    const secrets = new KnownSecrets();
    const headers = { "set-cookie": 'session="abc123XYZ"; Path=/' };
    const transport = secrets.watching(scriptedTransport(() => ({ headers })));
    const word = secrets.watching(scriptedTransport(() => ({ headers: { "set-cookie": "seen=accepted" } })));
    const form = "application/x-www-form-urlencoded";
    const body = "grant_type=refresh_token&refresh_token=r-1-r-1&client_secret=c+2+c+2";

    await transport.send({ ...get("https://x.test"), headers: { authorization: "Bearer t-3-t-3" } });
    await word.send({ ...get("https://x.test"), headers: { "content-type": form }, body });

    const said = "abc123XYZ t-3-t-3 r-1-r-1 c%202%20c%202 accepted refresh_token";
    expect(secrets.masked(said)).toBe("<secret> <secret> <secret> <secret> accepted refresh_token");
  });

  test("of an error keeps its code; fields, causes and stacks are masked too", () => {
    const cause = new Error(`cause ${PASSWORD}`);
    const error = new SyncError("UNEXPECTED_RESPONSE", "what", { fields: { target: PASSWORD, n: 1 }, cause });

    const masked = knowing().maskedError(error);

    expect(masked).toMatchObject({ code: "UNEXPECTED_RESPONSE", fields: { target: "<secret>", n: 1 } });
    expect(masked).toHaveProperty("cause.message", "cause <secret>");
    expect(masked).not.toHaveProperty("cause.stack", expect.stringContaining(PASSWORD));
    const clean = new SyncError("UNEXPECTED_RESPONSE", "what", { fields: { n: 1 } });
    expect(knowing().maskedError(clean)).toBe(clean);
  });

  test("of a log is masked with its fields", () => {
    const log = new LogLines();

    knowing().logger(log).warn(`at ${PASSWORD}`, { target: PASSWORD, n: 1 });

    expect(log.text).toContain("<secret>");
    expect(log.text).not.toContain(PASSWORD);
  });
});

describe("a service that echoes the password", () => {
  const password = "hunter22secret";
  const run = async (options: Parameters<typeof Sandbox.start>[0]): Promise<string> => {
    await using sandbox = await Sandbox.start({ account: { password }, ...options });
    const result = await sandbox.run();
    const keys = sandbox.store.keys().filter((key) => !key.endsWith(".gz"));
    const files = await Promise.all(
      keys.map(async (key) => `${Buffer.from((await sandbox.store.read(key))?.bytes ?? [])}`),
    );
    return [sandbox.log.text, result.error?.stack ?? "", JSON.stringify(result), ...files].join("\n");
  };

  test.each([
    ["as a key of the list", { kind: "body", text: `{"${password}":{"x":1}}` }],
    ["in a Location of its own", { kind: "redirect", location: `/a/${password}` }],
    ["in base64", { kind: "redirect", location: `/${Buffer.from(password).toString("base64")}` }],
  ] as const)("%s brings it into no message and no file", async (_, fault) => {
    const text = await run({
      events: makeEvents(2),
      faults: [{ match: { path: "list", times: 99 }, fault }],
    });

    expect(text).toContain("UNEXPECTED_RESPONSE");
    expect(text).toContain("<secret>");
    expect(text).not.toContain(password);
    expect(text).not.toContain(Buffer.from(password).toString("base64").slice(0, 16));
  });

  test("as a key of an event brings it into no name of a field, and the row is as it came", async () => {
    const extra = `"${password}":{"${password}":1}`;
    await using sandbox = await Sandbox.start({ account: { password }, events: makeEvents(1, { extra }) });

    const { row } = await sandbox.run();
    const manifest = sandbox.store.keys().find((key) => key.endsWith("manifest.json")) ?? "";
    const text = `${Buffer.from((await sandbox.store.read(manifest))?.bytes ?? [])}`;
    const rows = [...(await sandbox.events()).values()];

    expect(row.outcome).toBe("PUBLISHED");
    expect(rows).toEqual([expect.stringContaining(extra)]);
    expect(text).toContain("<secret>");
    expect(text + sandbox.log.text).not.toContain(password);
  });
});
