// Keeps two runs of one account from spending the budget twice. A courtesy: correctness rests on write-once
// files and the publication log, never on the lease.

import type { Clock } from "../host/clock.ts";
import type { Logger } from "../host/logger.ts";
import type { BudgetUse } from "../service/budget.ts";
import { parseJson } from "../storage/json-object.ts";
import { layout } from "../storage/layout.ts";
import type { Store } from "../storage/store.ts";
import { type Holder, isHeld, type LeaseFile, leaseSchema } from "./lease-file.ts";

const EXPIRY_MS = 60_000;
const RENEWAL_MS = 20_000;
const POLL_MS = 5_000;

export interface LeaseOptions {
  readonly store: Store;
  readonly account: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly holder: Holder;
  /** True only if that process surely no longer exists; where nobody can tell, always false. */
  readonly isGone: (holder: Holder) => boolean;
}

export interface LeaseRequest {
  readonly runId: string;
  /** A triggered start that meets its own run's lease waits for it to expire, and gives up once it is renewed. */
  readonly waitForOwnRun: boolean;
  readonly signal: AbortSignal;
}

/** The lease is held by another: by which run, and until when. */
export interface LeaseTaken {
  readonly takenBy: string;
  readonly expiresAt: string;
}

/** Takes the account's lease, or says who holds it. */
export async function acquireLease(
  options: LeaseOptions,
  request: LeaseRequest,
): Promise<Lease | LeaseTaken> {
  const { store, account, clock, holder, isGone } = options;
  const key = layout.lease(account);
  let firstSeenExpiry: string | undefined;
  for (;;) {
    const stored = await store.read(key);
    const found = stored && parseJson(stored.bytes, key, leaseSchema);
    if (stored && found && isHeld(found, clock.now()) && !(found.holder && isGone(found.holder))) {
      const taken: LeaseTaken = { takenBy: found.run_id ?? "", expiresAt: found.expires_at };
      firstSeenExpiry ??= found.expires_at;
      const isOwnRun = request.waitForOwnRun && found.run_id === request.runId;
      if (!isOwnRun || found.expires_at !== firstSeenExpiry) return taken;
      await clock.sleep(Math.min(POLL_MS, Date.parse(found.expires_at) - clock.now() + 1), request.signal);
      continue;
    }
    const earlier = found?.use ?? [];
    const crashedAtMs =
      found?.run_id == null
        ? undefined
        : Math.min(Date.parse(found.renewed_at) + RENEWAL_MS, Date.parse(found.expires_at), clock.now());
    const lease = encode(leaseOf(request.runId, holder, clock.now(), earlier));
    const version = stored ? await store.replace(key, lease, stored.version) : await store.create(key, lease);
    if (version !== undefined) return new Lease(options, request.runId, version, earlier, crashedAtMs);
  }
}

/** A lease that is ours, renewed in the background until it is released or lost. */
export class Lease {
  /** The budget's use by whoever held it before, in the last window. */
  readonly earlier: BudgetUse;
  /** Set where the one before died without a release: up to this instant it may have sent requests that nobody counted. */
  readonly crashedAtMs: number | undefined;
  /** Aborts with a `LeaseLost` when another process has taken the lease. */
  readonly lost: AbortSignal;
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  #runId: string;
  #version: string;
  #use: () => BudgetUse = () => this.earlier;
  #renewing: Promise<void>;

  constructor(
    options: LeaseOptions,
    runId: string,
    version: string,
    earlier: BudgetUse,
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

  /** Tells where the budget's use is read from, at every renewal and at the release. */
  carry(use: () => BudgetUse): void {
    this.#use = use;
  }

  /** The lease now stands for another run: one that this start has adopted. */
  async adopt(runId: string): Promise<void> {
    this.#runId = runId;
    await this.#write(leaseOf(runId, this.#options.holder, this.#options.clock.now(), this.#use()));
  }

  /** Frees the lease and leaves the budget's use in it for the next start. Never throws: it expires by itself. */
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

  /** Compare-and-swap on our own last version; a lost answer to an earlier write of ours is no loss of the lease. */
  async #write(lease: LeaseFile): Promise<void> {
    const { store, account, holder } = this.#options;
    const key = layout.lease(account);
    const version = await store.replace(key, encode(lease), this.#version);
    if (version !== undefined) {
      this.#version = version;
      return;
    }
    const stored = await store.read(key);
    const found = stored && parseJson(stored.bytes, key, leaseSchema);
    if (!stored || found?.holder?.token !== holder.token) {
      this.#lost.abort(new LeaseLost(found?.run_id ?? null));
      return;
    }
    const again = await store.replace(key, encode(lease), stored.version);
    if (again === undefined) this.#lost.abort(new LeaseLost(null));
    else this.#version = again;
  }

  #warnNotWritten(): void {
    this.#options.logger.warn("the lease could not be written; it expires by itself", {
      run_id: this.#runId,
    });
  }
}

/** Another process has taken the lease over and goes on with the account. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly takenBy: string | null;

  constructor(takenBy: string | null) {
    super(`the lease was taken over${takenBy === null ? "" : ` by the run ${takenBy}`}`);
    this.takenBy = takenBy;
  }
}

function leaseOf(runId: string, holder: Holder, nowMs: number, use: BudgetUse): LeaseFile {
  return {
    run_id: runId,
    holder,
    renewed_at: new Date(nowMs).toISOString(),
    expires_at: new Date(nowMs + EXPIRY_MS).toISOString(),
    use: [...use],
  };
}

function encode(lease: LeaseFile): Uint8Array {
  return Buffer.from(`${JSON.stringify(lease)}\n`);
}
