// Runs a command that uses the budget without making a run: under the account's lease, which carries its usage.

import type { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { LoginWithheld, openAccount } from "../login/open-account.ts";
import type { CountingService, RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { leaseAccount } from "./lease-account.ts";
import { LeaseLost } from "./lease-lost.ts";
import { type LeasedCommand, leaseNameOf } from "./lease-name.ts";
import { type Skipped, skippedAsLost, skippedAsTaken } from "./skipped.ts";

/** Sends nothing yet. Throws `CREDENTIALS_INVALID`. */
export type OpenService = () => Promise<CountingService>;

/**
 * Returns what `work` returns, or why it did not begin or did not end. The ports that `work` is given stop it when the
 * lease is lost.
 */
export async function withLease<T>(
  ports: RunPorts,
  settings: RunSettings,
  command: LeasedCommand,
  work: (open: OpenService, ports: RunPorts, budget: RateLimiter) => Promise<T>,
): Promise<T | Skipped> {
  const runId = leaseNameOf(command, ports.clock.now());
  const leased = await leaseAccount(ports, settings, { runId, waitForOwnRun: false, waitForCommand: false });
  if ("takenBy" in leased) return skippedAsTaken(leased);
  const { lease, rateLimiter } = leased;
  const stoppable: RunPorts = { ...ports, signal: AbortSignal.any([ports.signal, lease.lost]) };
  try {
    return await work(
      () => openAccount(stoppable, settings.account, rateLimiter, "manual"),
      stoppable,
      rateLimiter,
    );
  } catch (error) {
    if (error instanceof LoginWithheld) return error.end;
    if (ports.signal.aborted || !(lease.lost.reason instanceof LeaseLost)) throw error;
    return skippedAsLost(lease.lost.reason);
  } finally {
    await lease.release();
  }
}
