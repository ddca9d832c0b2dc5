// No secret, cookie, e-mail address or body reaches a log line, an error, a file or an exception.

import { inspect } from "node:util";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { METHODS, type Method } from "../../../../../lambdas/job/credentials/credentials.ts";
import { CANARY } from "../../../../simulator/account.ts";
import type { Fault, FaultMatch } from "../../../../simulator/faults.ts";
import type { SimulatorOptions } from "../../../../simulator/settings.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";

import { Sandbox } from "../../sandbox.ts";

const CANARIES = [
  CANARY.accessToken,
  CANARY.refreshToken,
  CANARY.clientSecret,
  CANARY.email,
  CANARY.password,
  CANARY.cookie,
  CANARY.body,
  Buffer.from(`${CANARY.email}:${CANARY.password}`).toString("base64"),
  "canary",
];
const LEAKY_BODY = `{"error":"${CANARY.body} ${CANARY.email} ${CANARY.cookie}"`;
const LEAKY_SHAPE = `{"data":{"${CANARY.body}":1,"password":"${CANARY.password}"}}`;

const FAULTS: readonly Fault[] = [
  { kind: "status", status: 400, body: LEAKY_BODY },
  { kind: "status", status: 401, body: LEAKY_BODY },
  { kind: "status", status: 403, body: LEAKY_BODY },
  { kind: "status", status: 404, body: LEAKY_BODY },
  { kind: "status", status: 429, body: LEAKY_BODY, headers: { "retry-after": CANARY.cookie } },
  { kind: "status", status: 500, body: LEAKY_BODY, headers: { "content-encoding": CANARY.cookie } },
  { kind: "status", status: 200, body: LEAKY_BODY, headers: { "content-encoding": CANARY.cookie } },
  { kind: "html" },
  { kind: "body", text: LEAKY_BODY },
  { kind: "body", text: LEAKY_SHAPE.replace("}}", "") },
  {
    kind: "redirect",
    location: `/elsewhere?token=${CANARY.cookie}&email=${encodeURIComponent(CANARY.email)}`,
  },
  { kind: "reset" },
  { kind: "reset-mid-body" },
  { kind: "truncate" },
  { kind: "cut" },
  { kind: "wrong-uuid" },
];

async function everythingWritten(options: SimulatorOptions, method: Method): Promise<string> {
  await using sandbox = await Sandbox.start({ events: makeEvents(6), ...options });
  sandbox.use(method);
  const result = await sandbox.run();
  const files = await Promise.all(
    sandbox.store.keys().map(async (key) => {
      const bytes = (await sandbox.store.read(key))?.bytes ?? new Uint8Array();
      return `${key}\n${key.endsWith(".gz") ? gunzipSync(bytes) : Buffer.from(bytes)}`;
    }),
  );
  const said = inspect(
    { result, error: result.error, stack: result.error?.stack },
    { depth: 20, showHidden: true },
  );
  return [sandbox.log.text, said, ...files].join("\n");
}

function leaks(text: string): readonly string[] {
  return CANARIES.filter((canary) => text.toLowerCase().includes(canary.toLowerCase()));
}

describe.each(METHODS)("with the method %s", (method) => {
  const paths = method === "session" ? (["login", "list", "detail"] as const) : (["list", "detail"] as const);
  const cases = FAULTS.flatMap((fault) => paths.map((path) => ({ fault, path })))
    .filter(({ fault, path }) => fault.kind !== "wrong-uuid" || path === "detail")
    .map((one) => ({ ...one, what: `${one.fault.kind} ${"status" in one.fault ? one.fault.status : ""}` }));

  test.each(cases)("nothing leaks when the response to the $path is $what", async ({ fault, path }) => {
    const match: FaultMatch = { path, times: Number.POSITIVE_INFINITY };

    const text = await everythingWritten({ faults: [{ match, fault }] }, method);

    expect(leaks(text)).toEqual([]);
  });

  test.each([
    { what: "succeeds", options: {} },
    { what: "is refused", options: { account: { password: "another one" } } },
    { what: "is disabled", options: { account: { disabled: true } } },
  ])("nothing leaks when the login $what", async ({ options }) => {
    const text = await everythingWritten(options, method);

    expect(leaks(text)).toEqual([]);
  });
});
