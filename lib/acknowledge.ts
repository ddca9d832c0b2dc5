// Findings of cdk-nag that are meant to be so, each with its reason.

import * as cdk from "aws-cdk-lib";
import type { Construct } from "constructs";

/** Where `aws-cdk-lib` is older than `Validations`, or than the ids of these findings, the findings stay. */
export function acknowledge(scope: Construct, ...findings: readonly cdk.Acknowledgment[]): void {
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
