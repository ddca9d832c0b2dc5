// What the function needs to hand over a run: the ARN of the state machine, and the permission to start executions.

import { ArnFormat, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";
import { wildcardFinding } from "../wildcard-finding.ts";

export class HandOver extends Construct {
  /** The deployment's, so two in one AWS account do not meet. */
  readonly stateMachineName: string;
  /** Made of its parts: the state machine names the function, so the function cannot refer to the state machine. */
  readonly stateMachineArn: string;

  constructor(scope: Construct, id: string, name: string) {
    super(scope, id);
    this.stateMachineName = name;
    this.stateMachineArn = Stack.of(this).formatArn({
      service: "states",
      resource: "stateMachine",
      resourceName: this.stateMachineName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }

  /** Allows the function to start executions and to ask how they are, and returns the state machine's ARN. */
  grantTo(role: Role): Pick<FunctionSettings, "stateMachineArn"> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "HandOver",
        actions: ["states:StartExecution"],
        resources: [this.stateMachineArn],
      }),
    );
    role.addToPolicy(
      new PolicyStatement({
        sid: "AskAboutExecutions",
        actions: ["states:DescribeExecution"],
        resources: [this.executionArn("*")],
      }),
    );
    Validations.of(role).acknowledge({
      id: wildcardFinding(role, this.executionArn("*")),
      reason:
        "Runs give the executions their names, so all executions of this state machine are the narrowest resource.",
    });
    return { stateMachineArn: this.stateMachineArn };
  }

  private executionArn(name: string): string {
    return Stack.of(this).formatArn({
      service: "states",
      resource: "execution",
      resourceName: `${this.stateMachineName}:${name}`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }
}
