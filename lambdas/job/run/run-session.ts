// One start of a run while it has the lease: what it has opened, how far it got, and what it gives back at the end.

import { SyncError } from "../errors/sync-error.ts";
import type { EventService } from "../service/event-service.ts";
import { RateLimiter } from "../service/rate-limit/rate-limiter.ts";
import type { LiftedColumn } from "../settings/lifted-column.ts";
import { type LogEnd, readEnd } from "../storage/publication-log.ts";
import { TimeBudget } from "./collect/time-budget.ts";
import type { Lease } from "./lease/lease.ts";
import { whileHeld } from "./lease/lease-account.ts";
import { openAccount } from "./open-account.ts";
import type { Attempt } from "./record/attempt.ts";
import { endOf, type RunEnd, type RunFailure, type RunResult } from "./record/run-result.ts";
import type { RunPorts } from "./run-ports.ts";
import type { RunSettings } from "./run-settings.ts";

export class RunSession {
  /** Their signal also aborts when the lease is lost, and their store then writes nothing. */
  readonly ports: RunPorts;
  readonly attempt: Attempt;
  readonly lease: Lease;
  /** The budget that permits each request. */
  readonly budget: RateLimiter;
  /** Where the rest can be handed over, the run does not wait long for the budget. */
  readonly timeBudget: TimeBudget;
  /** A restart, as a person has decided. */
  readonly overDamaged: boolean;
  /** True once the run has a plan, so that another process can resume it. */
  isPlanned = false;
  /** True once this attempt has brought the run further. */
  hasAdvanced = false;
  #settings: RunSettings;
  #service: EventService | undefined;

  constructor(
    ports: RunPorts,
    settings: RunSettings,
    attempt: Attempt,
    lease: Lease,
    { overDamaged = false }: { readonly overDamaged?: boolean | undefined },
  ) {
    this.ports = whileHeld(ports, lease);
    this.attempt = attempt;
    this.lease = lease;
    this.budget = new RateLimiter({ ...settings, clock: ports.clock, carrier: lease });
    this.timeBudget = new TimeBudget(ports, ports.executions && this.budget);
    this.overDamaged = overDamaged;
    this.#settings = settings;
  }

  /** The account's settings, with the columns that the run uses. */
  get settings(): RunSettings {
    return this.#settings;
  }

  useColumns(lifted: readonly LiftedColumn[]): void {
    this.#settings = { ...this.#settings, lifted };
  }

  /** Brings the catalog up to the head, before anything is sent to the service. */
  async openWarehouse(): Promise<LogEnd> {
    const { store, catalog } = this.ports;
    const end = await readEnd(store);
    await catalog.refresh(store.account, "new");
    return end;
  }

  /** Sends nothing yet. Throws `CREDENTIALS_INVALID`, and `StartSkipped` to a schedule. */
  async openService(): Promise<EventService> {
    const service = await openAccount(this.ports, this.budget, this.attempt.trigger);
    this.#service = service;
    this.attempt.service = service;
    return service;
  }

  /** From now on this start continues another, unfinished run. */
  async adopt(runId: string): Promise<void> {
    await this.lease.adopt(runId);
    this.attempt.runId = runId;
    this.ports.onRunId?.(runId);
  }

  /** The error that stopped an attempt which could go on; undefined for any other error. */
  interruptionOf(error: unknown): SyncError | undefined {
    if (this.lease.lost.aborted) return undefined;
    const cause: unknown = this.ports.signal.reason ?? error;
    return cause instanceof SyncError && cause.code === "INTERRUPTED" ? cause : undefined;
  }

  /** What an error means for the attempt. */
  endOf(error: unknown): RunEnd | RunFailure {
    const stopped: unknown = this.ports.signal.reason;
    if (stopped instanceof SyncError) return { error: stopped };
    if (this.attempt.publication !== undefined) return { error };
    return endOf(this.lease.lost.reason ?? error);
  }

  /** With what the service's clock has shown of this computer's: it is said again at the end. */
  withClock(result: RunResult): RunResult {
    const warning = this.#service?.clockWarning;
    if (warning === undefined) return result;
    const { explanation } = result;
    return { ...result, explanation: explanation === undefined ? warning : `${explanation} ${warning}` };
  }

  async close(): Promise<void> {
    try {
      await this.#service?.close();
    } finally {
      await this.lease.release();
    }
  }
}
