// A secret that is created empty: its value never passes through a template.

import { ArnFormat, Aws, Fn, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import type { Role } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { wildcardFinding } from "../wildcard-finding.ts";

/** `arn:aws:cloudformation:<region>:<account>:stack/<name>/<UUID>`. */
const STACK_UUID = Fn.select(2, Fn.split("/", Aws.STACK_ID));

export interface EmptySecretProps {
  readonly name: string;
  readonly description: string;
  readonly encryptionKey: IKey | undefined;
  /** Why AWS does not rotate it. */
  readonly whyNotRotated: string;
}

// Not the higher-level construct: without a value it generates a random password, which would look like credentials.
export function emptySecret(
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
  Validations.of(secret).acknowledge({ id: "AwsSolutions-SMG4", reason: whyNotRotated });
  return secret;
}

/**
 * The UUID of the stack's id is in the name, because a retained secret outlives its stack and must not make the next
 * deployment fail.
 * @param path below the deployment's name
 */
export function secretName(deployment: string, path: string): string {
  return `${deployment}/${path}-${STACK_UUID}`;
}

/**
 * The ARN of every secret of this deployment with a name like `path`, as a resource of a policy of `role`: one ARN for each
 * account would not fit into the policy.
 */
export function secretPattern(deployment: string, path: string, role: Role): string {
  const stack = Stack.of(role);
  const pattern = stack.formatArn({
    service: "secretsmanager",
    resource: "secret",
    // Secrets Manager appends a hyphen and six characters to the name.
    resourceName: `${secretName(deployment, path)}*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  Validations.of(role).acknowledge({
    id: wildcardFinding(role, pattern),
    reason:
      "The pattern covers secrets of this deployment only: one ARN for each account would not fit into the policy.",
  });
  return pattern;
}
