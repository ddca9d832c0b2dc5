// The permission to use the keys of the customer that files, results and secrets are encrypted with.

import { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";

export interface UseOfKeys {
  readonly keys: readonly IKey[];
  /** Only on behalf of these. */
  readonly services: readonly ("s3" | "secretsmanager")[];
}

/** The statement for a policy in the stack of `scope`; none without keys. */
export function useOfKeys(scope: Construct, { keys, services }: UseOfKeys): readonly PolicyStatement[] {
  if (keys.length === 0) return [];
  const { region, urlSuffix } = Stack.of(scope);
  return [
    new PolicyStatement({
      sid: "UseKey",
      // Reading needs Decrypt, and so does completing a multipart upload; writing needs GenerateDataKey.
      actions: ["kms:Decrypt", "kms:GenerateDataKey"],
      resources: keys.map(({ keyArn }) => keyArn),
      conditions: {
        StringEquals: { "kms:ViaService": services.map((service) => `${service}.${region}.${urlSuffix}`) },
      },
    }),
  ];
}
