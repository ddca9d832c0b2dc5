// What synthesis says of settings that are taken, but are unlikely to be meant.

import { Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { expect, it } from "vitest";
import { EventSyncStack } from "../../lib/app.ts";
import { EventSync } from "../../lib/event-sync.ts";
import { parseSettings } from "../../lib/settings.ts";
import { CONTEXT, newApp } from "./synthesized.ts";

const UK = { schedule: "rate(1 day)" };
const lab = { ...UK, baseUrl: "https://service.example" };
const GOOD = { baseUrl: "https://service.example", accounts: { uk: UK } };
const PLACEHOLDER = "eventSync.baseUrl: the address of the service is still a placeholder (uk). Set your own";

it.each<readonly [string, RegExp, unknown, readonly string[]]>([
  ["the settings of the project", /placeholder/, CONTEXT["eventSync"], [PLACEHOLDER]],
  ["an address of its own", /placeholder/, GOOD, []],
  ["an address of the account's own", /placeholder/, { accounts: { lab } }, []],
  [
    "the placeholder for one of its accounts, however it is written",
    /placeholder/,
    { baseUrl: "https://API.example.com/v1", accounts: { uk: UK, lab } },
    [PLACEHOLDER],
  ],
  [
    "a schedule that is rare",
    /alarm "stale"/,
    { ...GOOD, accounts: { uk: { schedule: "rate(7 days)" } } },
    ["accounts.uk.schedule: too rare for the alarm"],
  ],
  ["a schedule for each day", /alarm "stale"/, GOOD, []],
  ["no address of a runbook", /runbookUrl/, GOOD, ["docs/runbook.md is not an address"]],
  ["the address of a runbook", /runbookUrl/, { ...GOOD, runbookUrl: "https://wiki.example.com/runbook" }, []],
  ["no address for mails", /alarmEmail: not set/, GOOD, ["so alarms send no e-mail"]],
  ["an address for mails", /alarmEmail: not set/, { ...GOOD, alarmEmail: "data-team@example.com" }, []],
])("of a deployment with %s it says of the %s what is expected", (_, about, eventSync, says) => {
  const stack = new EventSyncStack(newApp(), "Stack", { settings: parseSettings(eventSync) });

  const annotations = Annotations.fromStack(stack);
  const match = Match.stringLikeRegexp(about.source);
  const said = [...annotations.findWarning("*", match), ...annotations.findInfo("*", match)];

  expect(said.map(({ entry }) => String(entry.data))).toEqual(
    says.map((text) => expect.stringContaining(text)),
  );
});

it("without an address for mails it says nothing where the app brings a topic, which is where people look", () => {
  const stack = new Stack(newApp(), "Platform");
  new EventSync(stack, "Events", { settings: GOOD, alarmTopic: new Topic(stack, "OnCall") });

  expect(Annotations.fromStack(stack).findInfo("*", Match.stringLikeRegexp("alarmEmail"))).toEqual([]);
});
