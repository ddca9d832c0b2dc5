// Takes the lease from an execution that has ended.

import { layout } from "../../storage/layout.ts";
import { endOfUncounted } from "../lease/acquire-lease.ts";
import { earlierUse } from "../lease/earlier-use.ts";
import {
  encodeLease,
  executionOf,
  knownSinceMs,
  type LeaseFile,
  leaseOf,
  readLease,
} from "../lease/lease-file.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";

type LeasePorts = Pick<RunPorts, "store" | "clock">;

/** The lease of an execution, as it was read. */
export interface ExecutionLease {
  readonly version: string;
  readonly lease: LeaseFile;
}

/** Undefined where the lease is not, or no longer, this execution's. */
export async function readExecutionLease(
  { store }: LeasePorts,
  { account }: RunSettings,
  execution: string,
): Promise<ExecutionLease | undefined> {
  const { version, lease } = (await readLease(store, account)) ?? {};
  if (version === undefined || lease === undefined) return undefined;
  return executionOf(lease) === execution ? { version, lease } : undefined;
}

/**
 * Compare-and-swap: false where the lease was written since it was read. The budget's use stays in it, with what is
 * assumed of a process that died.
 */
export async function freeLease(
  { store, clock }: LeasePorts,
  settings: RunSettings,
  { version, lease }: ExecutionLease,
): Promise<boolean> {
  const nowMs = clock.now();
  const crashedAtMs = endOfUncounted(lease, nowMs);
  const known = { earlier: lease.use, knownSinceMs: knownSinceMs(lease), crashedAtMs };
  const { handed_over } = lease;
  const use = earlierUse(known, nowMs, settings);
  const free = encodeLease(leaseOf({ run_id: null, holder: null, handed_over, use }, nowMs));
  return (await store.replace(layout.lease(settings.account), free, version)) !== undefined;
}
