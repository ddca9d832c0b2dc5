// One more secret for each account with OAuth, created empty: `authorize` fills it, and the function renews its tokens.

import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { ACCOUNT_PLACEHOLDER, type FunctionSettings } from "../../lambdas/sync/environment.ts";
import type { Settings } from "../settings/settings.ts";
import { emptySecret, secretName, secretPattern } from "./empty-secret.ts";

/** What the command `authorize` needs for one account. */
export interface Authorization {
  readonly authUrl: string;
  /** The ARN of the secret for the tokens. */
  readonly secretId: string;
}

export interface TokensProps {
  /** The name of the deployment. */
  readonly deployment: string;
  readonly accounts: Settings["accounts"];
  readonly encryptionKey: IKey | undefined;
}

export class Tokens extends Construct {
  /** For each account with an identity provider. */
  readonly authorizations: ReadonlyMap<string, Authorization>;
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
