// The secrets, created empty: for each account one that a person fills with its credentials, and for an account with an
// identity provider one for its tokens.

import { Aws, Fn, RemovalPolicy } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { ACCOUNT_PLACEHOLDER, type FunctionSettings } from "../../lambdas/sync/environment.ts";
import { acknowledge } from "../acknowledge.ts";
import type { Settings } from "../settings.ts";

/** The secrets of one account, by their ARNs. */
export interface AccountSecrets {
  readonly account: string;
  readonly secretId: string;
  /** What the command `authorize` needs, where there is an identity provider. */
  readonly authorization?: { readonly authUrl: string; readonly secretId: string };
}

interface SecretsProps {
  /** The name of the deployment. */
  readonly deployment: string;
  readonly accounts: Settings["accounts"];
  readonly encryptionKey: IKey | undefined;
}

/** No account's name has a slash, so the names of secrets for tokens are not those of secrets for credentials. */
const TOKENS = "tokens/";

export function addSecrets(
  parent: Construct,
  { deployment, accounts, encryptionKey }: SecretsProps,
): {
  readonly names: Pick<FunctionSettings, "secretName" | "tokensSecretName">;
  readonly secrets: readonly AccountSecrets[];
} {
  const credentialsScope = new Construct(parent, "Credentials");
  const tokensScope = new Construct(parent, "Tokens");
  // The UUID of the stack's id, `arn:aws:cloudformation:<region>:<account>:stack/<name>/<UUID>`: a retained secret
  // outlives its stack and must not make the next deployment fail.
  const nameOf = (path: string): string =>
    `${deployment}/${path}-${Fn.select(2, Fn.split("/", Aws.STACK_ID))}`;
  // Not the higher-level construct: without a value it generates a random password, which would look like credentials.
  const addSecret = (scope: Construct, account: string, path: string, texts: SecretTexts): string => {
    const secret = new CfnSecret(scope, account, {
      name: nameOf(path),
      description: texts.description,
      ...(encryptionKey && { kmsKeyId: encryptionKey.keyArn }),
    });
    // Retained, but deleted when its creation is rolled back: a failed first deployment leaves nothing behind.
    secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    acknowledge(secret, { id: "AwsSolutions-SMG4", reason: texts.whyNotRotated });
    return secret.ref;
  };
  const secrets = Object.entries(accounts).map(([account, { authUrl }]): AccountSecrets => {
    const secretId = addSecret(credentialsScope, account, account, {
      description: `Credentials of the account ${account} at the Brand Metrics Service, as JSON`,
      whyNotRotated:
        "The password belongs to the service, whose interface cannot change it. The next login uses a new value.",
    });
    if (authUrl === undefined) return { account, secretId };
    const tokens = addSecret(tokensScope, account, `${TOKENS}${account}`, {
      description: `Tokens of the account ${account} at the identity provider, stored by the command authorize and by runs`,
      whyNotRotated:
        "Each renewal of the tokens stores new ones, and the identity provider ends the old ones.",
    });
    return { account, secretId, authorization: { authUrl, secretId: tokens } };
  });
  const hasTokens = secrets.some(({ authorization }) => authorization !== undefined);
  const names = {
    secretName: nameOf(ACCOUNT_PLACEHOLDER),
    ...(hasTokens ? { tokensSecretName: nameOf(`${TOKENS}${ACCOUNT_PLACEHOLDER}`) } : {}),
  };
  return { names, secrets };
}

interface SecretTexts {
  readonly description: string;
  readonly whyNotRotated: string;
}
