// A service that echoes what it was sent: nothing of it comes into a message, a log or a file other than the data.

import { describe, expect, test } from "vitest";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Sandbox } from "../run/sandbox.ts";

const run = async (options: Parameters<typeof Sandbox.start>[0]): Promise<string> => {
  await using sandbox = await Sandbox.start(options);
  const result = await sandbox.run();
  const keys = sandbox.store.keys().filter((key) => !key.endsWith(".gz"));
  const files = await Promise.all(
    keys.map(async (key) => `${Buffer.from((await sandbox.store.read(key))?.bytes ?? [])}`),
  );
  return [sandbox.log.text, result.error?.stack ?? "", JSON.stringify(result), ...files].join("\n");
};

describe.each([
  ["with digits", "hunter22secret"],
  ["of letters alone", "CorrectHorse"],
])("a password %s", (_, password) => {
  const echoed = encodeURIComponent(password);

  test.each([
    ["as a key of the list", "list", { kind: "body", text: `{"data":{"${password}":{"x":1}}}` }],
    ["as a key in lower case", "list", { kind: "body", text: `{"${password.toLowerCase()}":{"x":1}}` }],
    ["as a key of a detail", "detail", { kind: "body", text: `{"${password}":{"x":1}}` }],
    ["in a path of its own origin", "list", { kind: "redirect", location: `/a/${echoed}` }],
    ["before a path of the interface", "list", { kind: "redirect", location: `/${echoed}/v1/events` }],
    ["in base64", "list", { kind: "redirect", location: `/${Buffer.from(password).toString("base64")}` }],
    ["in a path elsewhere", "list", { kind: "redirect", location: `https://sso.test/${echoed}?${echoed}` }],
    ["at the login", "login", { kind: "redirect", location: `/in/${echoed}` }],
  ] as const)("%s comes into no message and no file", async (__, path, fault) => {
    const text = await run({
      account: { password },
      events: makeEvents(2),
      faults: [{ match: { path, times: 99 }, fault }],
    });

    expect(text).toContain("UNEXPECTED_RESPONSE");
    expect(text.toLowerCase()).not.toContain(password.toLowerCase());
    expect(text).not.toContain(Buffer.from(password).toString("base64").slice(0, 12));
  });

  test("in the path of a next page comes into no message and no log of its requests", async () => {
    const text = await run({
      account: { password },
      events: makeEvents(3),
      list: { pageSize: 1, nextUrl: () => `/${echoed}/v1/events` },
    });

    expect(text).toContain("UNEXPECTED_RESPONSE");
    expect(text).toContain("(its next page)");
    expect(text).not.toContain(password);
  });
});
