// The names that a deployment gives its resources, so that those of two deployments are never the same.

import { createHash } from "node:crypto";
import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { SHARED_SETTINGS } from "../lambdas/job/settings-file/shared-settings.ts";
import { METRIC_NAMESPACE } from "../lambdas/sync/telemetry.ts";

/** The CDK leaves this id out of logical ids, and these names leave it out too. */
export const DEFAULT_ID = "Default";

interface DeploymentNames {
  /** Of, or at the start of, everything that has a name in the AWS account, but for the following. */
  readonly name: string;
  /** The database where the settings name none. */
  readonly database: string;
  readonly metricNamespace: string;
  /** The outputs' names begin with it. */
  readonly outputPrefix: string;
}

/** The longest name of a schedule group; other resources take longer names. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
const PLAIN = /^[A-Za-z0-9-]+$/;

/** A deployment that is the only thing in its stack has the names of the stack; others add the ids of the constructs. */
export function deploymentNames(construct: Construct): DeploymentNames {
  const { stackName, ids } = placeOf(construct);
  const name = nameOf(stackName, ids);
  const outputPrefix = ids.join("").replaceAll(/[^A-Za-z0-9]/g, "");
  if (ids.length === 0) {
    return {
      name,
      database: SHARED_SETTINGS.database.default,
      metricNamespace: METRIC_NAMESPACE,
      outputPrefix,
    };
  }
  return { name, database: databaseOf(name), metricNamespace: `${METRIC_NAMESPACE}/${name}`, outputPrefix };
}

/** From the outermost stack to the construct: the name of a nested one is not known before it is deployed. */
function placeOf({ node }: Construct): { readonly stackName: string; readonly ids: readonly string[] } {
  const at = node.scopes.findIndex((scope) => Stack.isStack(scope));
  const stack = node.scopes[at];
  if (!Stack.isStack(stack)) {
    throw new Error(`EventSync ${node.path}: expected a place in a stack, and got one outside of all stacks`);
  }
  const ids = node.scopes.slice(at + 1).map((scope) => scope.node.id);
  return { stackName: stack.stackName, ids: ids.filter((id) => id !== DEFAULT_ID) };
}

/**
 * `Platform_Events`. No stack has `_` in its name, so the name says where a construct is. An id with other characters
 * than letters, digits and `-`, or a name that is too long, gets a hash of all at its end.
 */
function nameOf(stackName: string, ids: readonly string[]): string {
  const parts = [stackName, ...ids];
  const name = parts.join("_");
  if (name.length <= MAX_LENGTH && parts.every((part) => PLAIN.test(part))) return name;
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, HASH_LENGTH);
  const start = parts.map((part) => part.replaceAll(/[^A-Za-z0-9-]/g, "")).join("_");
  return `${start.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

/** `data_platform_events` for `DataPlatform_Events`. */
function databaseOf(name: string): string {
  const words = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_");
  return words.replaceAll("-", "_").toLowerCase();
}
