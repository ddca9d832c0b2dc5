// Which lease may be taken: one that is free, or whose holder certainly works no more, whatever its clock says.

import { CLOCK_TOLERANCE_MS } from "../../runtime/clock.ts";
import { type Limits, windowMsOf } from "../../settings/values.ts";
import { StartSkipped } from "../record/run-result.ts";
import type { HostPorts, WarehousePorts, WorldPorts } from "../run-ports.ts";
import { commandOf, Lease, workOf } from "./lease.ts";
import {
  EXPIRY_MS,
  earlierUse,
  executionOf,
  expiryMs,
  type Holder,
  knownMs,
  type LeaseFile,
  laterBy,
  nameOfExecution,
  readLease,
} from "./lease-file.ts";

const POLL_MS = 5_000;

/** `isGone` is true only of a process that certainly no longer exists. */
export type AcquirePorts = WorldPorts & WarehousePorts & HostPorts;

export interface LeaseRequest {
  /** A run's id, or the name of a command. */
  readonly runId: string;
  /** The ARN of the execution that this invocation works for. */
  readonly execution?: string | undefined;
  /** The id of the request of a start by hand, on a platform that may deliver it twice. */
  readonly requestId?: string | undefined;
  /** Whether the lease of another execution may be taken; without it never. */
  readonly mayTakeOver?: ((execution: string) => Promise<boolean>) | undefined;
  /** A triggered start that finds its own run's lease waits until it expires, and gives up once it is renewed. */
  readonly waitForOwnRun?: boolean;
  /** The limits of the budget; none for what sends nothing. */
  readonly limits?: Limits | undefined;
}

/**
 * Takes the account's lease if it is free, over or damaged, or if its holder no longer exists or works for the same
 * execution; else throws a `StartSkipped` that says which run or command holds it. A run waits up to a minute where dates
 * do not show whether the holder lives, and for the end of a command, which is brief.
 */
export async function acquireLease(ports: AcquirePorts, request: LeaseRequest): Promise<Lease> {
  const { store, clock, logger, isGone, signal } = ports;
  const { runId, execution, requestId, mayTakeOver, limits } = request;
  const holder = { token: ports.random.token(), ...ports.process };
  /** Another process's lease that is waited for, as it was when it was first seen. */
  let first: { readonly version: string; readonly monotonicMs: number } | undefined;
  for (;;) {
    const stored = await readLease(store);
    const found = stored?.lease;
    const nowMs = clock.now();
    const owner = found && executionOf(found);
    let watchedMs = 0;
    if (found && owner !== undefined) {
      const isFree = owner === execution || (await mayTakeOver?.(owner));
      if (!isFree) throw taken(found, nowMs);
    } else if (found && found.run_id !== null && !(found.holder && isGone(found.holder))) {
      const seen = { version: stored.version, monotonicMs: clock.monotonicMs() };
      const { version, monotonicMs } = first ?? seen;
      watchedMs = seen.monotonicMs - monotonicMs;
      const sight = { own: ports.process, nowMs, hasChanged: seen.version !== version, watchedMs };
      const leftMs = patienceMs(found, request, sight);
      if (leftMs === undefined) throw taken(found, nowMs);
      if (leftMs > 0) {
        if (!first) logger.info(`waits up to a minute for ${workOf(found.run_id)} to end`);
        first ??= seen;
        await clock.sleep(Math.min(POLL_MS, leftMs + 1), signal);
        continue;
      }
    }
    if (stored && !found) logger.warn(`the file ${store.keys.lease} is damaged; it is written again`);
    // The lease may have been written as late as this process has seen it: the clock of its computer may be behind.
    const isOfOwnClock = first === undefined && hasClockOf(found?.holder, ports.process);
    const unseenMs = found && !isOfOwnClock ? nowMs - watchedMs - Date.parse(found.renewed_at) : 0;
    const behindMs = Math.min(Math.max(0, unseenMs), CLOCK_TOLERANCE_MS);
    const known = found && laterBy(found, behindMs);
    // What is assumed beyond the lease stays assumed also if this process crashes at once.
    const use = limits ? earlierUse(stored && { lease: known }, nowMs, limits) : (known?.use ?? []);
    const windowMs = limits ? windowMsOf(limits) : knownMs(found);
    const started = requestId === undefined ? found?.started : { request_id: requestId, run_id: runId };
    const { handed_over } = found ?? {};
    const facts = { run_id: runId, holder, execution, handed_over, started, use, windowMs };
    const lease = await Lease.take(ports, facts, stored?.version);
    if (lease) return lease;
  }
}

/** Another process's lease, since this one has looked at it. */
interface Sight {
  readonly own: Omit<Holder, "token">;
  readonly nowMs: number;
  readonly hasChanged: boolean;
  readonly watchedMs: number;
}

/**
 * How long to wait for another process's lease; 0 when it is over, undefined when it is taken. The clocks of two computers
 * may differ: so the lease of another one is over when it has not changed for its length by the clock of this one, or
 * ended longer ago than clocks may differ. One that changes is alive.
 */
function patienceMs(
  lease: LeaseFile,
  { runId, waitForOwnRun }: LeaseRequest,
  { own, nowMs, hasChanged, watchedMs }: Sight,
): number | undefined {
  const untilExpiryMs = expiryMs(lease, nowMs) - nowMs;
  const isOurs = isOfComputer(lease.holder, own);
  if (untilExpiryMs <= (isOurs ? 0 : -CLOCK_TOLERANCE_MS)) return 0;
  const leftMs = EXPIRY_MS - watchedMs;
  const isOwn = waitForOwnRun && lease.run_id === runId;
  const command = commandOf(runId);
  const isBrief = command === undefined && commandOf(lease.run_id ?? "") !== undefined;
  if (hasChanged) return isBrief && leftMs > 0 ? leftMs : undefined;
  const isUnclear = Date.parse(lease.renewed_at) > nowMs || untilExpiryMs <= 0;
  // A person waits for the answer of these.
  const isShort = command === "check" || command === "discover";
  const mayWait = isOwn || isBrief || (isUnclear && !isShort);
  if (!mayWait) return undefined;
  return Math.max(0, isOurs ? Math.min(leftMs, untilExpiryMs) : leftMs);
}

/** Of the processes that name no computer, which the platform runs, all have its clock. */
function hasClockOf(holder: Holder | null | undefined, own: Omit<Holder, "token">): boolean {
  if (holder?.host === undefined && own.host === undefined) return true;
  return isOfComputer(holder ?? null, own);
}

function isOfComputer(holder: Holder | null, own: Omit<Holder, "token">): boolean {
  const { host, boot_id } = own;
  return host !== undefined && holder?.host === host && holder.boot_id === boot_id;
}

function taken(lease: LeaseFile, nowMs: number): StartSkipped {
  const work = workOf(lease.run_id ?? "");
  const capitalized = work.charAt(0).toUpperCase() + work.slice(1);
  const execution = executionOf(lease);
  const endMs = expiryMs(lease, nowMs);
  const until = new Date(endMs).toISOString();
  const last =
    endMs > nowMs
      ? `its lease lasts until ${until} unless it is renewed`
      : `its lease ended at ${until} by the clock of another computer, which may be behind`;
  const why =
    execution === undefined
      ? `${capitalized} works on this account; ${last}.`
      : `${capitalized} of this account was handed over to the execution ${nameOfExecution(execution)} of the state machine, and the lease is the execution's until it ends.`;
  return new StartSkipped("LEASE_TAKEN", why, ["Start again when it has ended."]);
}
