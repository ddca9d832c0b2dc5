// Rules of EventBridge as tests evaluate them.

import { describe, expect, it } from "vitest";
import { EventRule } from "./event-rule.ts";

const properties = {
  State: "ENABLED",
  EventPattern: { source: ["aws.states"], detail: { status: ["FAILED", "ABORTED"] } },
  Targets: [
    {
      Id: "Target0",
      Arn: "arn:function",
      DeadLetterConfig: { Arn: "arn:queue" },
      InputTransformer: {
        InputPathsMap: { "detail-name": "$.detail.name" },
        InputTemplate: '{"action":"do","name":<detail-name>}',
      },
      RetryPolicy: { MaximumEventAgeInSeconds: 60 },
    },
  ],
};
const rule = new EventRule(properties);
const event = (source: string, detail: unknown): object => ({ source, detail });

describe("a rule", () => {
  it.each([
    ["matches one of the values of each field", event("aws.states", { status: "ABORTED" }), true],
    [
      "ignores fields that it does not name",
      { ...event("aws.states", { status: "FAILED", x: 1 }), y: 1 },
      true,
    ],
    ["does not match another value", event("aws.states", { status: "RUNNING" }), false],
    ["does not match another source", event("aws.batch", { status: "FAILED" }), false],
    ["does not match without the field", event("aws.states", {}), false],
    ["does not match without the object around it", event("aws.states", null), false],
  ])("%s", (_, given, expected) => {
    expect(rule.matches(given)).toBe(expected);
  });

  it("puts values of the event into the input as JSON", () => {
    expect(rule.inputFor(event("aws.states", { name: 'a "b"' }))).toEqual({ action: "do", name: 'a "b"' });
    expect(rule.inputFor(event("aws.states", {}))).toEqual({ action: "do", name: null });
  });

  it("puts values of the event into lines in quotes as they are, and nothing where there is none", () => {
    const target = properties.Targets[0];
    const InputTransformer = {
      InputPathsMap: { "detail-name": "$.detail.name" },
      InputTemplate: '"The name: <detail-name>."\n"Again: <detail-name>"',
    };
    const lines = new EventRule({ ...properties, Targets: [{ ...target, InputTransformer }] });

    expect(lines.textFor(event("aws.states", { name: "x y" }))).toBe('"The name: x y."\n"Again: x y"');
    expect(lines.textFor(event("aws.states", {}))).toBe('"The name: ."\n"Again: "');
    expect(() => lines.textFor(event("aws.states", { name: 'x "y"' }))).toThrow(SyntaxError);
    expect(() => lines.textFor(event("aws.states", { name: "x\ny" }))).toThrow(SyntaxError);
  });

  it.each([
    ["a prefix", { EventPattern: { source: [{ prefix: "aws" }] } }],
    ["a rule that is off", { State: "DISABLED" }],
    ["another bus", { EventBusName: "own" }],
  ])("with %s is refused", (_, more) => {
    expect(() => new EventRule({ ...properties, ...more })).toThrow();
  });
});
