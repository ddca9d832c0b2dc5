// The rules that send mails: where to, and what allows it.

import { describe, expect, test } from "vitest";
import { statements } from "../policy-statements.ts";
import { synthesized } from "../synthesized.ts";

const template = synthesized();
const topic = `<${template.only("AWS::SNS::Topic").name}>`;

describe("the rules", () => {
  test("send to the topic, and leave in the failure queue what the topic did not take within an hour", () => {
    const properties = template.all("AWS::Events::Rule").filter(({ name }) => name.startsWith("Mails"));

    expect(properties).toHaveLength(2);
    for (const { properties: rule } of properties) {
      expect(rule["Targets"]).toEqual([
        expect.objectContaining({
          Arn: topic,
          DeadLetterConfig: { Arn: `<${template.only("AWS::SQS::Queue").name}.Arn>` },
          RetryPolicy: { MaximumEventAgeInSeconds: 3600 },
        }),
      ]);
      // Events of the function arrive on the default bus only.
      expect(rule).not.toHaveProperty("EventBusName");
    }
  });

  test("may publish to the topic and use its key without a condition, with which every mail would be dropped", () => {
    const ofEvents = (found: ReturnType<typeof statements>) =>
      found.filter(({ Principal }) => JSON.stringify(Principal) === '{"Service":"events.amazonaws.com"}');

    const allowed = [
      ...ofEvents(statements(template.only("AWS::SNS::TopicPolicy"))),
      ...ofEvents(statements(template.only("AWS::KMS::Key"), "KeyPolicy")),
    ];

    expect(allowed).toMatchObject([
      { Effect: "Allow", Action: ["sns:Publish"], Resource: [topic] },
      { Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey*"] },
    ]);
    for (const statement of allowed) expect(statement).not.toHaveProperty("Condition");
  });
});
