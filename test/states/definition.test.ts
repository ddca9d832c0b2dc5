// The interpreter refuses what it does not run, and says what it is.

import { describe, expect, it } from "vitest";
import { parseDefinition } from "./definition.ts";
import { answers, DONE, definition, MACHINE, RETRY, testEngine } from "./machine.ts";

const withStates = (States: object): object => ({
  ...definition(),
  States: { ...definition().States, ...States },
});

describe("a definition", () => {
  it("is run with what the language says by default", () => {
    const { States } = parseDefinition(definition({ task: { Retry: [{ ErrorEquals: ["BUSY"] }] } }));

    expect(States["Work"]).toMatchObject({
      Retry: [{ IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 3, JitterStrategy: "NONE" }],
    });
  });

  it.each([
    ["Catch", definition({ task: { Catch: [{ ErrorEquals: ["BUSY"], Next: "End" }] } }), "Catch"],
    ["ResultPath", definition({ task: { ResultPath: "$.answer" } }), "ResultPath"],
    ["JSONata", definition({ QueryLanguage: "JSONata" }), "QueryLanguage"],
    [
      "an integration",
      definition({ task: { Resource: "arn:aws:states:::lambda:invoke" } }),
      "ARN of a function",
    ],
    ["a task without a time limit", definition({ task: { TimeoutSeconds: undefined } }), "TimeoutSeconds"],
    [
      "a retry for all errors",
      definition({ task: { Retry: [{ ...RETRY, ErrorEquals: ["States.ALL"] }] } }),
      "stands for many errors",
    ],
    ["another kind of state", withStates({ Wait: { Type: "Map" } }), "States.Wait"],
    ["a wait of fixed length", withStates({ Wait: { Type: "Wait", Seconds: 1, Next: "Work" } }), "Seconds"],
    [
      "another comparison",
      withStates({ "Done?": { Type: "Choice", Choices: [{ Variable: "$.a", IsNull: true, Next: "End" }] } }),
      "IsNull",
    ],
    ["a state that is not there", definition({ task: { Next: "Nowhere" } }), "there is no state Nowhere"],
    [
      "a state without a next one",
      definition({ task: { Next: undefined } }),
      "Work: expected either Next or End",
    ],
  ])("with %s is refused", (_, machine, says) => {
    expect(() => parseDefinition(machine)).toThrow(says);
  });

  it.each(["$.a[0]", "$..a", "States.Format('{}', $.a)", "a"])(
    "with the path %s is refused when it is read",
    async (path) => {
      const { engine } = testEngine(answers(DONE), definition({ task: { Parameters: { "value.$": path } } }));

      engine.start(MACHINE, "first", "{}");

      await expect(engine.idle()).rejects.toThrow(`This path is not read here: ${path}`);
    },
  );
});
