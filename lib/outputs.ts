// What to do next, in the order to do it: the commands, with everything filled in.

import { CfnOutput, type Stack } from "aws-cdk-lib";

export interface OutputsProps {
  readonly secretIds: ReadonlyMap<string, string>;
  readonly functionName: string;
  readonly logGroupName: string;
  readonly failureQueueUrl: string;
  readonly workgroup: string;
  readonly dashboard: string;
  readonly warehouse: string;
}

export function addOutputs(stack: Stack, props: OutputsProps): void {
  const { region } = stack;
  const [first = ""] = props.secretIds.keys();
  const output = (id: string, description: string, value: string): CfnOutput =>
    new CfnOutput(stack, id, { description, value });
  const invoke = (payload: object): string =>
    `aws lambda invoke --region ${region} --function-name ${props.functionName}:live --cli-read-timeout 900 ` +
    `--cli-binary-format raw-in-base64-out --payload '${JSON.stringify(payload)}' /dev/stdout`;
  for (const [account, secretId] of props.secretIds) {
    output(
      `Step1FillSecret${idOf(account)}`,
      `Put the credentials of the account ${account} into its secret`,
      `aws secretsmanager put-secret-value --region ${region} --secret-id ${secretId} --secret-string file://credentials.json`,
    );
  }
  output(
    "Step2Check",
    "Check that everything works (or press Test in the Lambda console)",
    invoke({ action: "check", account: first }),
  );
  output("Step3Run", "Make the first snapshot", invoke({ action: "run", account: first }));
  output("Step4Query", "Athena: choose this workgroup; its saved queries are a beginning", props.workgroup);
  output(
    "DashboardLink",
    "What the runs did",
    `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${props.dashboard}`,
  );
  output("FunctionName", "For the runbook", props.functionName);
  output("LogGroupName", "For the runbook", props.logGroupName);
  output("FailureQueueUrl", "For the runbook", props.failureQueueUrl);
  output("WarehouseLocation", "For the command line's --warehouse", props.warehouse);
}

/** An output's name has letters and digits only; two accounts never get the same one, for theirs have no capitals. */
function idOf(account: string): string {
  return account.replaceAll("-", "Dash").replaceAll("_", "Underscore");
}
