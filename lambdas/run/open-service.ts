// Opens the service for a command that takes no lease.

import { Budget } from "../service/budget.ts";
import { readJson } from "../storage/json-object.ts";
import { layout } from "../storage/layout.ts";
import { BUDGET_SHARE } from "./estimate.ts";
import { leaseSchema } from "./lease-file.ts";
import { openAccount } from "./open-account.ts";
import type { CountingService, RunHost, RunSettings } from "./run-host.ts";

/** With a budget that knows what the last run has used; where the store cannot say so, with a fresh one. */
export async function openServiceWithoutLease(
  host: RunHost,
  settings: RunSettings,
): Promise<CountingService> {
  const { account, requestsPerMinute, bytesPerMinute, windowMs } = settings;
  const lease = await readJson(host.store, layout.lease(account), leaseSchema).catch(() => undefined);
  const budget = new Budget({
    requestsPerWindow: requestsPerMinute,
    bytesPerWindow: bytesPerMinute,
    windowMs,
    share: BUDGET_SHARE,
    clock: host.clock,
    earlier: lease?.use ?? [],
  });
  return openAccount(host, account, budget, "manual");
}
