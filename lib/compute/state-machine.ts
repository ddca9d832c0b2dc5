// The state machine that continues what one invocation could not finish.

import { Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnStateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import type { HandOver } from "./hand-over.ts";
import { stateMachineDefinition } from "./state-machine-definition.ts";

export interface StateMachineProps {
  readonly handOver: HandOver;
  /** Is called for every turn. */
  readonly target: IFunction;
}

export class StateMachine extends Construct {
  constructor(scope: Construct, id: string, { handOver, target }: StateMachineProps) {
    super(scope, id);
    const role = machineRole(this, handOver, target);
    const machine = new CfnStateMachine(this, "Machine", {
      stateMachineName: handOver.stateMachineName,
      // An Express one ends after five minutes.
      stateMachineType: "STANDARD",
      // As text: as an object CloudFormation would be free to turn its numbers into texts.
      definitionString: Stack.of(this).toJsonString(stateMachineDefinition(target.functionArn)),
      roleArn: role.roleArn,
      // The engine keeps the history of each execution with its data for 90 days, and the function logs each turn. A
      // log group would be a second copy, and to write it the role would need permissions on all logs of the AWS
      // account (logs:CreateLogDelivery, logs:PutResourcePolicy and six more, which AWS grants on * only).
      loggingConfiguration: { level: "OFF" },
      // There is one function and nothing behind it to trace.
      tracingConfiguration: { enabled: false },
      // Encrypted with a key of the engine's. The data are the names of an account, a run and an execution, and the
      // messages of errors, none of which is secret: a key of our own would cost more than the executions.
      encryptionConfiguration: { type: "AWS_OWNED_KEY" },
    });
    // With its policy: an execution that starts before the permission is there fails for good.
    machine.node.addDependency(role);
    acknowledge(machine);
  }
}

/** May call the function's alias, for this state machine only. */
function machineRole(scope: Construct, handOver: HandOver, target: IFunction): Role {
  const role = new Role(scope, "Role", {
    description: "Allows the state machine to call the function",
    assumedBy: new ServicePrincipal("states.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": Stack.of(scope).account },
        ArnLike: { "aws:SourceArn": handOver.stateMachineArn },
      },
    }),
  });
  role.addToPolicy(
    new PolicyStatement({
      sid: "Continue",
      actions: ["lambda:InvokeFunction"],
      resources: [target.functionArn],
    }),
  );
  return role;
}

function acknowledge(machine: CfnStateMachine): void {
  const notTraced =
    "There is one function and nothing behind it to trace. The history of an execution shows every attempt with its time.";
  Validations.of(machine).acknowledge(
    {
      id: "AwsSolutions-SF1",
      reason:
        "The engine keeps the history of each execution with its data for 90 days, and the function logs each turn. To write logs the role would need permissions on all logs of the AWS account.",
    },
    { id: "AwsSolutions-SF2", reason: notTraced },
    { id: "Serverless-StepFunctionStateMachineXray", reason: notTraced },
  );
}
