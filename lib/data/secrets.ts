// One secret per account, created empty: a person fills it.

import { ArnFormat, Aws, Fn, RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { ACCOUNT_PLACEHOLDER, type FunctionSettings } from "../../lambdas/sync/environment.ts";
import { acknowledge, wildcardFinding } from "../acknowledge.ts";
import type { Settings } from "../settings/settings.ts";

interface CredentialsProps {
  /** The name of the deployment. */
  readonly deployment: string;
  readonly accounts: readonly string[];
  readonly encryptionKey: IKey | undefined;
}

export class CredentialSecrets extends Construct {
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

/** What the command `authorize` needs for one account. */
export interface TokensSecret {
  readonly authUrl: string;
  /** The ARN of the secret for the tokens. */
  readonly secretId: string;
}

interface TokensProps {
  /** The name of the deployment. */
  readonly deployment: string;
  readonly accounts: Settings["accounts"];
  readonly encryptionKey: IKey | undefined;
}

export class Tokens extends Construct {
  /** For each account with an identity provider. */
  readonly authorizations: ReadonlyMap<string, TokensSecret>;
  private readonly deployment: string;

  constructor(scope: Construct, id: string, { deployment, accounts, encryptionKey }: TokensProps) {
    super(scope, id);
    this.deployment = deployment;
    this.authorizations = new Map(
      Object.entries(accounts).flatMap(([account, { authUrl }]) => {
        if (authUrl === undefined) return [];
        const secret = emptySecret(this, account, {
          name: secretName(deployment, pathOf(account)),
          description: `Tokens of the account ${account} at the identity provider, stored by the command authorize and by runs`,
          encryptionKey,
          whyNotRotated:
            "Each renewal of the tokens stores new ones, and the identity provider ends the old ones.",
        });
        return [[account, { authUrl, secretId: secret.ref }] as const];
      }),
    );
  }

  /** Allows the function to replace the tokens, the only secrets that it may write. `Credentials` allows to read them. */
  grantTo(role: Role): Pick<FunctionSettings, "tokensSecretName"> {
    if (this.authorizations.size === 0) return {};
    role.addToPolicy(
      new PolicyStatement({
        sid: "RenewTokens",
        // The labels of its versions are the claim that keeps two processes from renewing the same tokens.
        actions: ["secretsmanager:PutSecretValue", "secretsmanager:UpdateSecretVersionStage"],
        resources: [secretPattern(this.deployment, pathOf("*"), role)],
      }),
    );
    return { tokensSecretName: secretName(this.deployment, pathOf(ACCOUNT_PLACEHOLDER)) };
  }
}

/** No account's name has a slash, so the pattern matches no credentials. */
function pathOf(account: string): string {
  return `tokens/${account}`;
}

/** `arn:aws:cloudformation:<region>:<account>:stack/<name>/<UUID>`. */
const STACK_UUID = Fn.select(2, Fn.split("/", Aws.STACK_ID));

interface EmptySecretProps {
  readonly name: string;
  readonly description: string;
  readonly encryptionKey: IKey | undefined;
  /** Why AWS does not rotate it. */
  readonly whyNotRotated: string;
}

// Not the higher-level construct: without a value it generates a random password, which would look like credentials.
function emptySecret(
  scope: Construct,
  id: string,
  { name, description, encryptionKey, whyNotRotated }: EmptySecretProps,
): CfnSecret {
  const secret = new CfnSecret(scope, id, {
    name,
    description,
    ...(encryptionKey && { kmsKeyId: encryptionKey.keyArn }),
  });
  // Retained, but deleted when its creation is rolled back: a failed first deployment leaves nothing behind.
  secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
  acknowledge(secret, { id: "AwsSolutions-SMG4", reason: whyNotRotated });
  return secret;
}

/**
 * The UUID of the stack's id is in the name, because a retained secret outlives its stack and must not make the next
 * deployment fail.
 * @param path below the deployment's name
 */
function secretName(deployment: string, path: string): string {
  return `${deployment}/${path}-${STACK_UUID}`;
}

/**
 * The ARN of every secret of this deployment with a name like `path`, as a resource of a policy of `role`: one ARN for each
 * account would not fit into the policy.
 */
function secretPattern(deployment: string, path: string, role: Role): string {
  const stack = Stack.of(role);
  const pattern = stack.formatArn({
    service: "secretsmanager",
    resource: "secret",
    // Secrets Manager appends a hyphen and six characters to the name.
    resourceName: `${secretName(deployment, path)}*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  acknowledge(role, {
    id: wildcardFinding(role, pattern),
    reason:
      "The pattern covers secrets of this deployment only: one ARN for each account would not fit into the policy.",
  });
  return pattern;
}
