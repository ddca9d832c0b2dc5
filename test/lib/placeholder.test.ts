// The address that `cdk.json` is delivered with is a placeholder: synthesis warns of it.

import { App } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import { EventSyncStack } from "../../lib/app.ts";
import { parseSettings } from "../../lib/settings.ts";
import { CONTEXT, WITHOUT_BUNDLE, WITHOUT_RULES } from "./synthesized.ts";

const UK = { schedule: "rate(1 day)" };

function warningsOf(eventSync: unknown): readonly unknown[] {
  const app = new App({ ...WITHOUT_RULES, context: WITHOUT_BUNDLE });
  const stack = new EventSyncStack(app, "Stack", { settings: parseSettings(eventSync) });
  return Annotations.fromStack(stack)
    .findWarning("*", Match.stringLikeRegexp("placeholder"))
    .map(({ entry }) => entry.data);
}

it("synthesis with the settings of the project warns of the placeholder", () => {
  expect(warningsOf(CONTEXT["eventSync"])).toEqual([
    expect.stringContaining(
      "eventSync.baseUrl: the address of the service is still a placeholder (uk). Set your own",
    ),
  ]);
});

it.each([
  ["for all accounts", { baseUrl: "https://service.example", accounts: { uk: UK } }],
  ["for the account", { accounts: { uk: { ...UK, baseUrl: "https://service.example" } } }],
])("synthesis with an address %s does not warn", (_, eventSync) => {
  expect(warningsOf(eventSync)).toEqual([]);
});

it("synthesis names the accounts that have only the placeholder, however it is written", () => {
  const lab = { ...UK, baseUrl: "https://service.example" };

  const [warning, ...others] = warningsOf({
    baseUrl: "https://API.example.com/v1",
    accounts: { uk: UK, lab },
  });

  expect(others).toEqual([]);
  expect(warning).toContain("(uk)");
});
