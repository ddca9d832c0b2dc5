// One secret per account. It is created empty: its value comes from a person and never passes through a template.

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

  /** Lets the function read the secrets; it may not write them. */
  grantTo(role: Role): ReadonlyMap<string, string> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "ReadCredentials",
        actions: ["secretsmanager:GetSecretValue"],
        resources: [...this.secretIds.values()],
      }),
    );
    return this.secretIds;
  }

  // Not the construct of a higher level: where no value is given, that one has a random password generated,
  // which would look like credentials. The name is generated too: a secret that outlived its stack must not
  // keep the next stack from being made.
  private emptySecret(account: string): CfnSecret {
    const secret = new CfnSecret(this, account, {
      description: `Credentials of the account ${account} at the Brand Metrics Service, as JSON`,
    });
    secret.applyRemovalPolicy(RemovalPolicy.RETAIN);
    Validations.of(secret).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "The password belongs to the service, whose interface has no way to change it. A new value is picked up by the next login.",
    });
    return secret;
  }
}
