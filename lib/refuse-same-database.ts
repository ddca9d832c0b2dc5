// Two deployments of an app that would have the same database: found when the template is made, not half-way through a
// deployment.

import { Stack, Token } from "aws-cdk-lib";
import type { Construct } from "constructs";

export interface WithDatabase extends Construct {
  readonly database: string;
}

/** Throws if one of `others` has the database of `deployment` in the same AWS account and region. */
export function refuseSameDatabase(deployment: WithDatabase, others: readonly WithDatabase[]): void {
  const same = others.find(
    (other) => other !== deployment && other.database === deployment.database && share(other, deployment),
  );
  if (same === undefined) return;
  throw new Error(
    `settings.database: ${same.node.path} and ${deployment.node.path} both have the database ${deployment.database}, and their tables would be the same. Give one of them another name, or leave it out: then it is named after the stack and the construct.`,
  );
}

/** Two stacks without a region or an AWS account may be deployed to different ones. */
function share(a: Construct, b: Construct): boolean {
  const [one, other] = [Stack.of(a), Stack.of(b)];
  if (one === other) return true;
  const isKnown = ![one.account, one.region].some((part) => Token.isUnresolved(part));
  return isKnown && one.environment === other.environment;
}
