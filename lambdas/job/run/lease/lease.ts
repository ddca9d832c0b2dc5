// Keeps two runs of one account from spending the budget twice. A courtesy: correctness rests on write-once
// files and the publication log, never on the lease.

import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { RateLimiterUsage } from "../../service/rate-limit/rate-limiter.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { encodeLease, type Holder, type LeaseFile, leaseOf, readLease } from "./lease-file.ts";
import { workOf } from "./lease-name.ts";

export const RENEWAL_MS = 20_000;

export interface LeaseOptions {
  readonly store: Store;
  readonly account: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly holder: Holder;
}

/** A lease that is ours, renewed in the background until it is released or lost. */
export class Lease {
  /** The use of the budget by earlier holders, in the last window. */
  readonly earlier: RateLimiterUsage;
  /** Set where the holder before died without a release: until this instant it may have sent requests that are not counted. */
  readonly crashedAtMs: number | undefined;
  /** Aborts with a `LeaseLost` when another process has taken the lease. */
  readonly lost: AbortSignal;
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  #runId: string;
  #version: string;
  #use: () => RateLimiterUsage = () => this.earlier;
  #renewing: Promise<void>;

  constructor(
    options: LeaseOptions,
    runId: string,
    version: string,
    earlier: RateLimiterUsage,
    crashedAtMs: number | undefined,
  ) {
    this.#options = options;
    this.#runId = runId;
    this.#version = version;
    this.earlier = earlier;
    this.crashedAtMs = crashedAtMs;
    this.lost = this.#lost.signal;
    this.#renewing = this.#renewUntilStopped();
  }

  /** Sets the source of the budget's use, which is written at every renewal and at the release. */
  carry(use: () => RateLimiterUsage): void {
    this.#use = use;
  }

  /** From now on the lease is that of another run, which this start has adopted. */
  async adopt(runId: string): Promise<void> {
    this.#runId = runId;
    await this.#write(leaseOf(runId, this.#options.holder, this.#options.clock.now(), this.#use()));
  }

  /** Frees the lease and leaves the budget's use in it for the next start. Never throws: the lease expires by itself. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
    if (this.lost.aborted) return;
    const now = new Date(this.#options.clock.now()).toISOString();
    const free: LeaseFile = {
      run_id: null,
      holder: null,
      renewed_at: now,
      expires_at: now,
      use: [...this.#use()],
    };
    await this.#write(free).catch(() => this.#warnNotWritten());
  }

  async #renewUntilStopped(): Promise<void> {
    const { clock, holder } = this.#options;
    for (;;) {
      await clock.sleep(RENEWAL_MS, this.#stop.signal).catch(() => undefined);
      if (this.#stop.signal.aborted || this.lost.aborted) return;
      const renewed = leaseOf(this.#runId, holder, clock.now(), this.#use());
      await this.#write(renewed).catch(() => this.#warnNotWritten());
    }
  }

  /**
   * Compare-and-swap on our own last version. A lost response to an earlier write of ours is no loss of the lease, nor is
   * a file that was damaged since.
   */
  async #write(lease: LeaseFile): Promise<void> {
    const { store, account, holder } = this.#options;
    const key = layout.lease(account);
    const bytes = encodeLease(lease);
    const version = await store.replace(key, bytes, this.#version);
    if (version !== undefined) {
      this.#version = version;
      return;
    }
    const stored = await readLease(store, account);
    const found = stored?.lease;
    const isDamaged = stored !== undefined && found === undefined;
    if (!stored || !(isDamaged || found?.holder?.token === holder.token)) {
      this.#lost.abort(new LeaseLost(found?.run_id ?? null));
      return;
    }
    const again = await store.replace(key, bytes, stored.version);
    if (again === undefined) this.#lost.abort(new LeaseLost(null));
    else this.#version = again;
  }

  #warnNotWritten(): void {
    this.#options.logger.warn("the lease could not be written; it expires by itself", {
      run_id: this.#runId,
    });
  }
}

/** Another process has taken the lease over and works on the account now. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly takenBy: string | null;

  constructor(takenBy: string | null) {
    super(`the lease was taken over${takenBy === null ? "" : ` by ${workOf(takenBy)}`}`);
    this.takenBy = takenBy;
  }
}
