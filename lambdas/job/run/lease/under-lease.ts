// Runs a command that uses the budget without making a run: under the account's lease, which keeps its use.

import { openAccount } from "../open-account.ts";
import type { CountingService, RunPorts, RunSettings } from "../run-ports.ts";
import { Lease, LeaseLost } from "./lease.ts";
import { type LeasedCommand, leaseNameOf } from "./lease-name.ts";
import { alreadyWorking, leasedRateLimiter, type Skipped, takeLease } from "./take-lease.ts";

/** Sends nothing yet. Throws `CREDENTIALS_INVALID`. */
export type OpenService = () => Promise<CountingService>;

/**
 * Comes back with what `work` does, or at once with why it was not begun. The host that `work` is given stops it when
 * the lease is lost.
 */
export async function underLease<T>(
  host: RunPorts,
  settings: RunSettings,
  command: LeasedCommand,
  work: (open: OpenService, host: RunPorts) => Promise<T>,
): Promise<T | Skipped> {
  const runId = leaseNameOf(command, host.clock.now());
  const lease = await takeLease(host, settings.account, {
    runId,
    waitForOwnRun: false,
    waitForCommand: false,
  });
  if (!(lease instanceof Lease)) return alreadyWorking(lease);
  const leased: RunPorts = { ...host, signal: AbortSignal.any([host.signal, lease.lost]) };
  try {
    const rateLimiter = leasedRateLimiter(lease, host, settings);
    return await work(() => openAccount(leased, settings.account, rateLimiter, "manual"), leased);
  } catch (error) {
    if (host.signal.aborted || !(lease.lost.reason instanceof LeaseLost)) throw error;
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
