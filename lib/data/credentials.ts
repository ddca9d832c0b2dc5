// One secret per account, created empty: a person fills it, and its value never passes through a template.

import { ArnFormat, Aws, Fn, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { ACCOUNT_PLACEHOLDER, type FunctionSettings } from "../../lambdas/sync/environment.ts";

/** `arn:aws:cloudformation:<region>:<account>:stack/<name>/<UUID>`. */
const STACK_UUID = Fn.select(2, Fn.split("/", Aws.STACK_ID));

export class Credentials extends Construct {
  /** The ARN of each account's secret. */
  readonly secretIds: ReadonlyMap<string, string>;

  constructor(scope: Construct, id: string, accounts: readonly string[]) {
    super(scope, id);
    this.secretIds = new Map(accounts.map((account) => [account, this.emptySecret(account).ref]));
  }

  /** Allows the function to read the secrets of this stack, not to write them, and returns their name. */
  grantTo(role: Role): Pick<FunctionSettings, "secretName"> {
    const secrets = Stack.of(this).formatArn({
      service: "secretsmanager",
      resource: "secret",
      // Secrets Manager appends a hyphen and six characters to the name.
      resourceName: this.nameOf("*", "*"),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    role.addToPolicy(
      new PolicyStatement({
        sid: "ReadCredentials",
        // The description tells a secret without a value from a missing one.
        actions: ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
        resources: [secrets],
      }),
    );
    this.acknowledgePattern(role);
    return { secretName: this.nameOf(ACCOUNT_PLACEHOLDER) };
  }

  /**
   * The UUID of the stack's id is in the name, because a retained secret outlives its stack and must not make the next
   * deployment fail.
   */
  private nameOf(account: string, suffix = ""): string {
    return `${Stack.of(this).stackName}/${account}-${STACK_UUID}${suffix}`;
  }

  private acknowledgePattern(role: Role): void {
    const uuid = JSON.stringify(Stack.of(this).resolve(STACK_UUID));
    const name = this.nameOf("*", "*").replace(STACK_UUID, uuid);
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:${name}]`,
      reason:
        "The pattern covers the secrets of this stack only: one ARN for each account would not fit into the policy.",
    });
  }

  // Not the higher-level construct: without a value it generates a random password, which would look like credentials.
  private emptySecret(account: string): CfnSecret {
    const secret = new CfnSecret(this, account, {
      name: this.nameOf(account),
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
