import { randomUUID } from "node:crypto";
import { CreateStateMachineCommand, SFNClient, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { expect, test } from "vitest";
import { StepFunctionsExecutions } from "../../../lambdas/job/run/hand-over/step-functions-executions.ts";
import { awsClients, onEmulator } from "../../aws/emulator.ts";
import { executionsContract } from "../../job/run/hand-over/executions-contract.ts";

const NAME = "uk-20261121T060000000Z-1";
const INPUT = { account: "uk", runId: "2026-11-21T06-00-00.000Z", turn: 0 };
const DEFINITION = JSON.stringify({
  StartAt: "Wait",
  States: { Wait: { Type: "Wait", Seconds: 1, End: true } },
});

async function newStateMachine(): Promise<string> {
  const { stateMachineArn = "" } = await awsClients().stepFunctions.send(
    new CreateStateMachineCommand({
      name: `m-${randomUUID()}`,
      definition: DEFINITION,
      roleArn: "arn:aws:iam::123456789012:role/machine",
    }),
  );
  return stateMachineArn;
}

onEmulator("executions of Step Functions", () => {
  executionsContract(async () => {
    const client = awsClients().stepFunctions;
    return {
      executions: new StepFunctionsExecutions(client, await newStateMachine()),
      end: async (executionArn) => {
        await client.send(new StopExecutionCommand({ executionArn }));
        return "ABORTED";
      },
    };
  });

  test("of a state machine that does not exist cannot be started: the error says what to do", async () => {
    const arn = (await newStateMachine()).replace(/m-[^:]*$/, "gone");
    const executions = new StepFunctionsExecutions(awsClients().stepFunctions, arn);

    const failure = executions.start(NAME, INPUT);

    await expect(failure).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: expect.stringMatching(
        /^The execution uk-.*-1 could not be started: Step Functions says StateMachine/,
      ),
    });
  });
});

test("Step Functions that does not respond is an error that a retry may fix", async () => {
  const client = new SFNClient({
    endpoint: "http://127.0.0.1:9",
    region: "eu-west-1",
    maxAttempts: 1,
    credentials: { accessKeyId: "x", secretAccessKey: "x" },
  });
  const executions = new StepFunctionsExecutions(
    client,
    "arn:aws:states:eu-west-1:123456789012:stateMachine:Stack",
  );

  const failure = executions.describe(executions.arnOf(NAME));

  await expect(failure).rejects.toMatchObject({
    code: "INTERRUPTED",
    isRetryable: true,
    message: expect.stringContaining(`does not say whether the execution ${NAME} runs: AWS did not respond`),
  });
});
