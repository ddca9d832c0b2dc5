// Runs a command that uses the budget without making a run: under the account's lease, which keeps its use.

import { openAccount } from "../login/open-account.ts";
import type { CountingService, RunPorts, RunSettings } from "../run-ports.ts";
import { Lease, LeaseLost } from "./lease.ts";
import { type LeasedCommand, leaseNameOf } from "./lease-name.ts";
import { leasedRateLimiter, leaseTakenEnd, type Skipped, takeLease } from "./take-lease.ts";

/** Sends nothing yet. Throws `CREDENTIALS_INVALID`. */
export type OpenService = () => Promise<CountingService>;

/**
 * Comes back with what `work` does, or at once with why it was not begun. The ports that `work` is given stop it when
 * the lease is lost.
 */
export async function withLease<T>(
  ports: RunPorts,
  settings: RunSettings,
  command: LeasedCommand,
  work: (open: OpenService, ports: RunPorts) => Promise<T>,
): Promise<T | Skipped> {
  const runId = leaseNameOf(command, ports.clock.now());
  const lease = await takeLease(ports, settings.account, {
    runId,
    waitForOwnRun: false,
    waitForCommand: false,
  });
  if (!(lease instanceof Lease)) return leaseTakenEnd(lease);
  const leased: RunPorts = { ...ports, signal: AbortSignal.any([ports.signal, lease.lost]) };
  try {
    const rateLimiter = leasedRateLimiter(lease, ports, settings);
    return await work(() => openAccount(leased, settings.account, rateLimiter, "manual"), leased);
  } catch (error) {
    if (ports.signal.aborted || !(lease.lost.reason instanceof LeaseLost)) throw error;
    return lostTo(lease.lost.reason);
  } finally {
    await lease.release();
  }
}

function lostTo({ message }: LeaseLost): Skipped {
  return {
    outcome: "SKIPPED",
    reason: "LEASE_LOST",
    explanation: `Another process works on this account now: ${message}. Start again when it has ended.`,
  };
}
