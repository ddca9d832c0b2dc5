// One secret per account, created empty: a person fills it.

import { Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { ACCOUNT_PLACEHOLDER, type FunctionSettings } from "../../lambdas/sync/environment.ts";
import { emptySecret, secretName, secretPattern } from "./empty-secret.ts";

export class Credentials extends Construct {
  /** The ARN of each account's secret. */
  readonly secretIds: ReadonlyMap<string, string>;

  constructor(scope: Construct, id: string, accounts: readonly string[]) {
    super(scope, id);
    this.secretIds = new Map(
      accounts.map((account) => {
        const secret = emptySecret(this, account, {
          name: secretName(Stack.of(this), account),
          description: `Credentials of the account ${account} at the Brand Metrics Service, as JSON`,
          whyNotRotated:
            "The password belongs to the service, whose interface cannot change it. The next login uses a new value.",
        });
        return [account, secret.ref];
      }),
    );
  }

  /** Allows the function to read the secrets of this stack, not to write them, and returns their name. */
  grantTo(role: Role): Pick<FunctionSettings, "secretName"> {
    const stack = Stack.of(this);
    role.addToPolicy(
      new PolicyStatement({
        sid: "ReadCredentials",
        // The description tells a secret without a value from a missing one.
        actions: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
        resources: [secretPattern(stack, "*", role)],
      }),
    );
    return { secretName: secretName(stack, ACCOUNT_PLACEHOLDER) };
  }
}
