// The stack's outputs: the next steps in their order, as commands with all names filled in.

import { Aws, CfnCondition, CfnOutput, Fn, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { PROGRAM } from "./assets.ts";
import type { AccountSecrets } from "./data/secrets.ts";

interface OutputsProps {
  /** The beginning of their names. */
  readonly prefix: string;
  readonly secrets: readonly AccountSecrets[];
  readonly functionName: string;
  readonly logGroupName: string;
  readonly failureQueueUrl: string;
  readonly stateMachineArn: string;
  /** The dashboard has the same name. */
  readonly workgroup: string;
  readonly analystPolicyArn: string;
  readonly warehouse: string;
}

export function addOutputs(scope: Construct, props: OutputsProps): void {
  const { region } = Stack.of(scope);
  const output = (id: string, description: string, value: string, condition?: CfnCondition): void => {
    const made = new CfnOutput(scope, id, { description, value, ...(condition && { condition }) });
    made.overrideLogicalId(`${props.prefix}${id}`);
  };
  const invoke = (payload: object, options: string): string =>
    `aws lambda invoke --region ${region} --function-name ${props.functionName}:live ${options} ` +
    `--cli-binary-format raw-in-base64-out --payload '${JSON.stringify(payload)}' /dev/stdout`;
  for (const { account, secretId, authorization } of props.secrets) {
    // An output's name has letters and digits only. Account names have no capitals, so two accounts never share one.
    const id = account.replaceAll("-", "Dash").replaceAll("_", "Underscore");
    output(
      `Step1FillSecret${id}`,
      `Put the credentials of the account ${account} into its secret`,
      `aws secretsmanager put-secret-value --region ${region} --secret-id ${secretId} --secret-string file://credentials.json`,
    );
    if (authorization !== undefined) {
      output(
        `Step1ThenAuthorize${id}`,
        `Where the method is oauth: log in for the account ${account} once, in the folder of this app`,
        // A quote is as good in a URL when it is encoded, and in a shell better.
        `AWS_REGION=${region} ${PROGRAM} authorize --auth-url '${authorization.authUrl.replaceAll("'", "%27")}' ` +
          `--credentials secretsmanager:${secretId} --tokens secretsmanager:${authorization.secretId}`,
      );
    }
    output(
      `Step2Check${id}`,
      `Check that everything works for the account ${account} (or press Test in the Lambda console)`,
      invoke({ action: "check", account }, "--cli-read-timeout 900"),
    );
    output(
      `Step3Run${id}`,
      `Start the first run of the account ${account}. The command returns at once; Step3Watch shows the run`,
      // A connection that is silent for minutes is dropped on its way, and the command line then invokes again.
      invoke({ action: "run", account }, "--invocation-type Event"),
    );
  }
  output(
    "Step3Watch",
    "Watch the runs, until a line says how yours ended (Ctrl-C to stop)",
    `aws logs tail ${props.logGroupName} --region ${region} --since 5m --follow --format short`,
  );
  output("Step4Query", "The Athena workgroup to choose; start with its saved queries", props.workgroup);
  output(
    "AnalystPolicyArn",
    "The policy to attach to the roles and groups of analysts",
    props.analystPolicyArn,
  );
  output(
    "DashboardLink",
    "The dashboard with all runs",
    `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${props.workgroup}`,
    // Other partitions have their consoles elsewhere.
    inPartitionAws(Stack.of(scope)),
  );
  output("FunctionName", "Used by the runbook", props.functionName);
  output("LogGroupName", "Used by the runbook", props.logGroupName);
  output("FailureQueueUrl", "Used by the runbook", props.failureQueueUrl);
  output("StateMachineArn", "Used by the runbook", props.stateMachineArn);
  output("WarehouseLocation", "The value for --warehouse on the command line", props.warehouse);
}

/** A condition that all deployments of the stack share. */
function inPartitionAws(stack: Stack): CfnCondition {
  const id = "EventSyncInPartitionAws";
  const made = stack.node.tryFindChild(id);
  const expression = Fn.conditionEquals(Aws.PARTITION, "aws");
  return made instanceof CfnCondition ? made : new CfnCondition(stack, id, { expression });
}
