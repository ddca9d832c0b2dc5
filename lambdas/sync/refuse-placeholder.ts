// No request goes to the placeholder that stands for the address of the service.

import { SyncError } from "../job/errors/sync-error.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import { isPlaceholder } from "../job/settings/base-url.ts";

/** Throws `CONFIG_INVALID` for the address that `cdk.json` is delivered with. */
export function refusePlaceholder({ account, baseUrl }: RunSettings): void {
  if (!isPlaceholder(baseUrl)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `The address of the service is still the placeholder ${baseUrl}. Set eventSync.baseUrl in cdk.json, or baseUrl of the account ${account}, to the address of your service, and deploy the stack again.`,
    { fields: { setting: "baseUrl" } },
  );
}
