// One secret per account, created empty: a person fills it, and its value never passes through a template.

import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";

export class Credentials extends Construct {
  /** The ARN of each account's secret. */
  readonly secretIds: ReadonlyMap<string, string>;

  constructor(scope: Construct, id: string, accounts: readonly string[]) {
    super(scope, id);
    this.secretIds = new Map(accounts.map((account) => [account, this.emptySecret(account).ref]));
  }

  /** Allows the function to read the secrets, not to write them. */
  grantTo(role: Role): ReadonlyMap<string, string> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "ReadCredentials",
        // The description tells a secret without a value from a missing one.
        actions: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
        resources: [...this.secretIds.values()],
      }),
    );
    return this.secretIds;
  }

  // Not the higher-level construct: without a value it generates a random password, which would look like
  // credentials. The name is generated too: a secret that outlives its stack must not make the next deployment fail.
  private emptySecret(account: string): CfnSecret {
    const secret = new CfnSecret(this, account, {
      description: `Credentials of the account ${account} at the Brand Metrics Service, as JSON`,
    });
    // Retained, but deleted when its creation is rolled back: a failed first deployment leaves nothing behind.
    secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    Validations.of(secret).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "The password belongs to the service, whose interface cannot change it. The next login uses a new value.",
    });
    return secret;
  }
}
