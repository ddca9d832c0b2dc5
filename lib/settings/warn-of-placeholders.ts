// The address that `cdk.json` is delivered with is a placeholder: synthesis warns of it.

import { Annotations } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { isPlaceholder } from "../../lambdas/job/settings/base-url.ts";
import type { Settings } from "./settings.ts";

export function warnOfPlaceholders(scope: Construct, accounts: Settings["accounts"]): void {
  const names = Object.keys(accounts).filter((name) => isPlaceholder(accounts[name]?.baseUrl ?? ""));
  if (names.length === 0) return;
  Annotations.of(scope).addWarningV2(
    "brand-events-sync:placeholder",
    `eventSync.baseUrl: the address of the service is still a placeholder (${names.join(", ")}). Set your own; until then runs fail with CONFIG_INVALID.`,
  );
}
