// Findings of cdk-nag that are meant to be so, each with its reason.

import * as cdk from "aws-cdk-lib";
import { type Acknowledgment, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** Where `aws-cdk-lib` is older than `Validations`, or than the ids of these findings, the findings stay. */
export function acknowledge(scope: Construct, ...findings: readonly Acknowledgment[]): void {
  if (!("Validations" in cdk)) return;
  const validations = cdk.Validations.of(scope);
  for (const finding of findings) {
    try {
      validations.acknowledge(finding);
    } catch {
      // Some versions refuse `::` in an id.
    }
  }
}

/**
 * The id of the finding for a resource of a policy that ends in `*`.
 * @param scope a construct in the stack of the policy
 */
export function wildcardFinding(scope: Construct, arn: string): string {
  return `AwsSolutions-IAM5[Resource::${asText(Stack.of(scope).resolve(arn))}]`;
}

/** A reference is `<Name>` or `<Name.Attribute>`, as cdk-nag writes it. */
function asText(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const [[name, inner] = []] = Object.entries(value);
  if (name === "Ref") return `<${String(inner)}>`;
  if (!Array.isArray(inner)) return JSON.stringify(value);
  if (name === "Fn::GetAtt") return `<${inner.join(".")}>`;
  if (name === "Fn::Join" && Array.isArray(inner[1])) return inner[1].map(asText).join(String(inner[0]));
  return JSON.stringify(value);
}
