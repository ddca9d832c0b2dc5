// A token of the CDK stands for a value that is known only at deployment: no setting can be one.

import { App, CfnParameter, Stack, Token } from "aws-cdk-lib";
import { describe, expect, it } from "vitest";
import { EventSync } from "../../../lib/event-sync.ts";
import type { EventSyncSettings } from "../../../lib/settings.ts";
import { GOOD, messageOf, UK } from "./a-deployment.ts";

/** @param settings with a token of the stack */
function messageOfEventSync(settings: (token: string) => EventSyncSettings | string): string {
  const stack = new Stack(new App(), "Stack");
  const { valueAsString } = new CfnParameter(stack, "Address");
  return messageOf(() => new EventSync(stack, "Events", { settings: settings(valueAsString) }));
}

describe("a token", () => {
  it.each<[string, (token: string) => EventSyncSettings | string, string]>([
    ["in place of the base URL", (token) => ({ ...GOOD, baseUrl: token }), "settings.baseUrl"],
    ["within the base URL", (token) => ({ ...GOOD, baseUrl: `https://${token}/x` }), "settings.baseUrl"],
    [
      "in place of the base URL of an account",
      (token) => ({ accounts: { uk: { ...UK, baseUrl: token } } }),
      "settings.accounts.uk.baseUrl",
    ],
    ["in place of the identity provider", (token) => ({ ...GOOD, authUrl: token }), "settings.authUrl"],
    [
      "in place of a number",
      () => ({ ...GOOD, retainDays: Token.asNumber({ Ref: "Days" }) }),
      "settings.retainDays",
    ],
    ["in place of all settings", (token) => token, "settings"],
  ])("%s is refused with the reason", (_, settings, key) => {
    const message = messageOfEventSync(settings);

    expect(message).toContain(`  ${key}: expected a value that is known at synthesis`);
    expect(message).toContain("known only at deployment");
    expect(message).not.toContain("TOKEN");
  });
});

it("settings that contain themselves are refused as any other wrong ones", () => {
  const circular: Record<string, unknown> = { ...GOOD };
  circular["self"] = circular;

  expect(messageOfEventSync(() => circular as EventSyncSettings)).toContain(
    "settings.self: there is no such key",
  );
});
