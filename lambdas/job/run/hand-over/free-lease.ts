// Takes the lease from an execution that has ended.

import { layout } from "../../storage/layout.ts";
import { endOfUncounted } from "../lease/acquire-lease.ts";
import { earlierUse } from "../lease/earlier-use.ts";
import { encodeLease, executionOf, knownSinceMs, leaseOf, readLease } from "../lease/lease-file.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";

/**
 * Compare-and-swap on the execution's ARN: false where the lease is not, or no longer, this execution's. The budget's use
 * stays in it, with what is assumed of a process that died.
 */
export async function freeLease(
  { store, clock }: Pick<RunPorts, "store" | "clock">,
  settings: RunSettings,
  execution: string,
): Promise<boolean> {
  const { account } = settings;
  for (;;) {
    const stored = await readLease(store, account);
    const lease = stored?.lease;
    if (!lease || executionOf(lease) !== execution) return false;
    const nowMs = clock.now();
    const crashedAtMs = endOfUncounted(lease, nowMs);
    const known = { earlier: lease.use, knownSinceMs: knownSinceMs(lease), crashedAtMs };
    const { handed_over } = lease;
    const use = earlierUse(known, nowMs, settings);
    const free = leaseOf({ run_id: null, holder: null, handed_over, use }, nowMs);
    const version = await store.replace(layout.lease(account), encodeLease(free), stored.version);
    if (version !== undefined) return true;
  }
}
