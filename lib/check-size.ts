// The number of accounts that fit into a stack.

import { CfnResource } from "aws-cdk-lib";
import type { Construct } from "constructs";

const MAX_RESOURCES = 500;

/** Throws if CloudFormation would refuse the resources of a deployment. */
export function checkSize(scope: Construct, accounts: number): void {
  const resources = scope.node.findAll().filter((each) => CfnResource.isCfnResource(each)).length;
  if (resources <= MAX_RESOURCES) return;
  throw new Error(
    `eventSync.accounts: ${accounts} accounts need ${resources} resources, and a stack of CloudFormation has at most ${MAX_RESOURCES}. Deploy some of the accounts as a second stack, with a stackName and a database of its own (docs/aws.md, "A second stack").`,
  );
}
