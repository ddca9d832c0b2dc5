// One secret per account, created empty: a person fills it.

import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { ACCOUNT_PLACEHOLDER, type FunctionSettings } from "../../lambdas/sync/environment.ts";
import { emptySecret, secretName, secretPattern } from "./empty-secret.ts";

export interface CredentialsProps {
  /** The name of the deployment. */
  readonly deployment: string;
  readonly accounts: readonly string[];
  readonly encryptionKey: IKey | undefined;
}

export class Credentials extends Construct {
  /** The ARN of each account's secret. */
  readonly secretIds: ReadonlyMap<string, string>;
  private readonly deployment: string;

  constructor(scope: Construct, id: string, { deployment, accounts, encryptionKey }: CredentialsProps) {
    super(scope, id);
    this.deployment = deployment;
    this.secretIds = new Map(
      accounts.map((account) => {
        const secret = emptySecret(this, account, {
          name: secretName(deployment, account),
          description: `Credentials of the account ${account} at the Brand Metrics Service, as JSON`,
          encryptionKey,
          whyNotRotated:
            "The password belongs to the service, whose interface cannot change it. The next login uses a new value.",
        });
        return [account, secret.ref];
      }),
    );
  }

  /** Allows the function to read the secrets of this stack, not to write them, and returns their name. */
  grantTo(role: Role): Pick<FunctionSettings, "secretName"> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "ReadCredentials",
        // The description tells a secret without a value from a missing one.
        actions: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
        resources: [secretPattern(this.deployment, "*", role)],
      }),
    );
    return { secretName: secretName(this.deployment, ACCOUNT_PLACEHOLDER) };
  }
}
