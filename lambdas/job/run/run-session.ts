// One start of a run while it works: what it has opened, how far it got, and what it gives back at the end.

import { CredentialsNotSetUp } from "../credentials/credentials.ts";
import { SyncError } from "../errors/sync-error.ts";
import type { RateLimiter } from "../service/rate-limit/rate-limiter.ts";
import type { LiftedColumn } from "../snapshot/rows/lifted-column.ts";
import { type LogEnd, readEnd } from "../storage/publication-log.ts";

import { TimeBudget } from "./collect/time-budget.ts";
import { askExecution } from "./hand-over/abandon-run.ts";
import { skippedAsLost, skippedAsTaken } from "./lease/acquire-lease.ts";
import { type Lease, LeaseLost } from "./lease/lease.ts";
import { type LeasedAccount, leaseAccount } from "./lease/lease-account.ts";
import { LoginWithheld, openAccount } from "./login/open-account.ts";
import { type BaseOf, baseOfNext } from "./publish/base.ts";
import type { Trigger } from "./record/run-log.ts";
import type { CountingService, RunPorts } from "./run-ports.ts";
import type { RunSettings } from "./run-settings.ts";
import { NO_COUNTS, type RunEnd, type RunFailure, type RunState } from "./run-state.ts";

/** What readers see when a run starts, and what its changes are found against. */
interface Baseline {
  readonly end: LogEnd;
  readonly baseOf: BaseOf;
}

export class RunSession {
  /** Without it the run uses the lifted columns of the warehouse. */
  readonly namesColumns: boolean;
  readonly trigger: Trigger;
  readonly state: RunState;
  /** True once the run has a plan, so that another process can resume it. */
  isPlanned = false;
  /** True once this attempt has brought the run further. */
  hasAdvanced = false;
  #ports: RunPorts;
  #settings: RunSettings;
  #leased: LeasedAccount | undefined;
  #service: CountingService | undefined;

  constructor(ports: RunPorts, settings: RunSettings, trigger: Trigger, runId: string) {
    this.#ports = ports;
    this.#settings = settings;
    this.namesColumns = settings.lifted.length > 0;
    this.trigger = trigger;
    this.state = { runId, snapshotId: null, counts: NO_COUNTS, service: undefined };
    ports.onRunId?.(runId);
  }

  /** Their signal also aborts when the lease is lost. */
  get ports(): RunPorts {
    return this.#ports;
  }

  /** With the columns that the run uses. */
  get settings(): RunSettings {
    return this.#settings;
  }

  useColumns(lifted: readonly LiftedColumn[]): void {
    this.#settings = { ...this.#settings, lifted };
    if (this.namesColumns || lifted.length === 0) return;
    const columns = lifted.map(
      ({ name, pointer, type }) => `${name} (${type ? `${pointer}, ${type}` : pointer})`,
    );
    this.#ports.logger.info(`uses the lifted columns of the warehouse: ${columns.join(", ")}`);
  }

  /** Undefined once the lease is held; otherwise how the start ends. */
  async takeLease(waitForOwnRun: boolean, execution?: string): Promise<RunEnd | undefined> {
    const { runId } = this.state;
    const { settings } = this;
    const ports = this.#ports;
    const { executions } = ports;
    const mayTakeOver = execution === undefined;
    const leased = await leaseAccount(ports, settings, {
      runId,
      execution,
      askExecution:
        executions && ((other) => askExecution({ ports, executions, settings, mayTakeOver }, other)),
      waitForOwnRun,
      waitForCommand: true,
    });
    if ("takenBy" in leased) return skippedAsTaken(leased);
    this.#leased = leased;
    this.#ports = { ...this.#ports, signal: AbortSignal.any([this.#ports.signal, leased.lease.lost]) };
    return undefined;
  }

  /** Brings the catalog up to the head, before anything is sent to the service. */
  async openWarehouse(overDamaged: boolean): Promise<Baseline> {
    const { account } = this.settings;
    const end = await readEnd(this.#ports.store);
    // This process may have been stopped since it took the lease, and the removal may still be deleting.
    if (end.removal) await this.heldLease.confirm();
    const baseOf = baseOfNext(this.#ports, overDamaged);
    await this.#ports.catalog.refresh(account);
    return { end, baseOf };
  }

  /** Sends nothing yet. Needs the lease. Throws `CREDENTIALS_INVALID`, and `LoginWithheld` to a schedule. */
  async openService(): Promise<CountingService> {
    const { rateLimiter } = this.#held;
    const service = await openAccount(this.#ports, rateLimiter, this.trigger);
    this.#service = service;
    this.state.service = () => service.counts;
    return service;
  }

  /** From now on this start continues another, unfinished run. Needs the lease. */
  async adopt(runId: string): Promise<void> {
    await this.heldLease.adopt(runId);
    this.state.runId = runId;
    this.#ports.onRunId?.(runId);
  }

  /** Where the rest can be handed over, the run does not wait long for the budget. Needs the lease. */
  timeBudget(): TimeBudget {
    const { rateLimiter } = this.#held;
    if (this.#ports.executions === undefined) return new TimeBudget(this.#ports);
    return new TimeBudget(this.#ports, (requests) => longPauseMs(rateLimiter, requests));
  }

  /** What the requests are sent within. Needs the lease. */
  get budget(): RateLimiter {
    return this.#held.rateLimiter;
  }

  /** Throws `LeaseLost` where the execution that this process works for no longer has the lease. */
  async confirmLease(): Promise<void> {
    if (this.heldLease.execution !== undefined) await this.heldLease.confirm();
  }

  /** Throws where it is not held. */
  get heldLease(): Lease {
    return this.#held.lease;
  }

  /** The error that stopped an attempt which could go on; undefined for any other error. */
  interruptionOf(error: unknown): SyncError | undefined {
    if (this.#leased === undefined || this.#leased.lease.lost.aborted) return undefined;
    const { signal } = this.#ports;
    const cause: unknown = signal.aborted ? signal.reason : error;
    return cause instanceof SyncError && cause.code === "INTERRUPTED" ? cause : undefined;
  }

  /**
   * Leaves the lease to the execution that this process works for. Never throws: a lease that is free can be taken. An
   * attempt that failed before it took the lease has left it there.
   */
  async leaveLease(): Promise<void> {
    await this.#leased?.lease.leave().catch(() => undefined);
  }

  /** What an error means for the attempt: not every one is a failure. */
  endOf(error: unknown): RunEnd | RunFailure {
    const { signal } = this.#ports;
    const lost = this.#leased?.lease.lost.reason;
    if (signal.aborted && signal.reason instanceof SyncError) return { error: signal.reason };
    if (this.state.publication !== undefined) return { error };
    if (error instanceof LoginWithheld) return error.end;
    if (error instanceof CredentialsNotSetUp) return notSetUp(error);
    return lost instanceof LeaseLost ? skippedAsLost(lost) : { error };
  }

  /**
   * What an error means once the lease is known to be ours still: this process may have been stopped for a while.
   * Undefined where it never had the lease.
   */
  async confirmedEndOf(error: unknown): Promise<RunEnd | RunFailure | undefined> {
    if (this.#leased === undefined) return undefined;
    const { lease } = this.#leased;
    await lease.confirm().catch((problem: unknown) => {
      if (!(problem instanceof LeaseLost)) throw problem;
    });
    return this.endOf(error);
  }

  /** Closes the service and frees the lease, as far as they were opened. */
  async close(): Promise<void> {
    try {
      await this.#service?.close();
    } finally {
      await this.#leased?.lease.release();
    }
  }

  get #held(): LeasedAccount {
    if (this.#leased === undefined) throw new Error("the lease is not held");
    return this.#leased;
  }
}

function notSetUp({ message }: CredentialsNotSetUp): RunEnd {
  return { outcome: "SKIPPED", reason: "NOT_SET_UP", explanation: message };
}

/** A minute. A pause within a window of a minute is never longer, because the limiter rounds instants up by one. */
const LONG_MS = 60_001;

/**
 * In how many milliseconds the last pause of more than a minute is over that lies ahead of so many more details; 0 where
 * there is none. Counts no more details than an empty window gives: pauses between windows cannot be avoided.
 */
export function longPauseMs(
  limiter: Pick<RateLimiter, "waitMs" | "waiting" | "detailsPerWindow" | "windowMs">,
  requests: number,
): number {
  if (limiter.windowMs < LONG_MS || limiter.detailsPerWindow === Number.POSITIVE_INFINITY) return 0;
  const next = Math.min(requests + limiter.waiting, limiter.detailsPerWindow);
  let beforeMs = 0;
  let endMs = 0;
  for (let n = 1; n <= next; n += 1) {
    const ms = limiter.waitMs(n);
    if (ms - beforeMs > LONG_MS) endMs = ms;
    beforeMs = ms;
  }
  return endMs;
}
