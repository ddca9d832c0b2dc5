// Keeps two runs of one account from spending the budget twice. A courtesy: correctness rests on write-once
// files and the publication log, never on the lease.

import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { RateLimiterUsage } from "../../service/rate-limit/rate-limiter.ts";
import { formatRunId } from "../../storage/layout.ts";
import type { AccountStore } from "../../storage/store.ts";
import { nameOfExecution } from "../hand-over/executions.ts";
import {
  EXPIRY_MS,
  encodeLease,
  type HandedOver,
  type Holder,
  type LeaseFacts,
  leaseOf,
  readLease,
} from "./lease-file.ts";

export const RENEWAL_MS = 20_000;

/** A lease that is ours, written again and again in the background until it is released, passed on or lost. */
export class Lease {
  readonly earlier: RateLimiterUsage;
  readonly knownSinceMs: number;
  readonly crashedAtMs: number | undefined;
  /** Aborts with a `LeaseLost` when another process has taken the lease. */
  readonly lost: AbortSignal;
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  #runId: string;
  #execution: string | undefined;
  #handedOver: HandedOver;
  #version: string;
  #use: () => RateLimiterUsage = () => this.earlier;
  #lastWrite: Promise<void> = Promise.resolve();
  #isPassedOn = false;
  /** When the last write that succeeded was sent: other processes count from then, or later. */
  #writtenAt: Instant;
  #onWritten = (): void => undefined;

  constructor(options: LeaseOptions, taken: TakenLease) {
    this.#options = options;
    this.#runId = taken.runId;
    this.#execution = taken.execution;
    this.#handedOver = taken.handedOver;
    this.#version = taken.version;
    this.earlier = taken.earlier;
    this.knownSinceMs = taken.knownSinceMs;
    this.crashedAtMs = taken.crashedAtMs;
    this.lost = this.#lost.signal;
    this.#writtenAt = taken.writtenAt;
    void this.#renewUntilStopped();
  }

  /** The execution that this process works for. */
  get execution(): string | undefined {
    return this.#execution;
  }

  /** The number of this run's next hand-over, which no earlier one had. */
  get nextHandOver(): number {
    const last = this.#handedOver;
    return last?.run_id === this.#runId ? last.n + 1 : 1;
  }

  /**
   * True where it has not been written for so long that another process may have taken it: this one was stopped for a
   * while, or the store fails. A clock that stands still while a computer sleeps hides it, so both are asked.
   */
  get isOverdue(): boolean {
    if (this.#execution !== undefined) return false;
    const now = instantOf(this.#options.clock);
    const { wallMs, monotonicMs } = this.#writtenAt;
    return Math.max(now.wallMs - wallMs, now.monotonicMs - monotonicMs) >= EXPIRY_MS;
  }

  /** Called after each write that succeeded. */
  whenWritten(onWritten: () => void): void {
    this.#onWritten = onWritten;
  }

  /** Sets the source of the budget's use, which is written at every renewal and at the release. */
  carry(use: () => RateLimiterUsage): void {
    this.#use = use;
  }

  /** Writes the budget's use now. Never throws. */
  async record(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await this.#write(() => this.#own()).catch(() => this.#warnNotWritten());
  }

  /** From now on the lease is that of another run, which this start has adopted. */
  async adopt(runId: string): Promise<void> {
    this.#runId = runId;
    await this.#write(() => this.#own());
  }

  /** Makes sure, by writing it, that the lease is still ours. Throws `LeaseLost`. */
  async confirm(): Promise<void> {
    await this.#write(() => this.#own());
    // A process that was stopped at this write has learned only what was true then.
    if (this.isOverdue) await this.#write(() => this.#own());
    this.lost.throwIfAborted();
  }

  /** The execution of this run's hand-over `n` has the lease from now on, before it is started. Throws `LeaseLost`. */
  async handOver(execution: string, n: number): Promise<void> {
    this.#execution = execution;
    this.#handedOver = { run_id: this.#runId, n };
    await this.#passOn();
  }

  /** Leaves the lease to the execution that this process works for, until its next invocation. Throws `LeaseLost`. */
  async leave(): Promise<void> {
    await this.#passOn();
  }

  /**
   * Frees the lease and leaves the budget's use in it for the next start, unless it was passed on. Never throws: the
   * lease of a process expires by itself, and that of an execution is free once the execution has ended.
   */
  async release(): Promise<void> {
    this.#stop.abort();
    if (this.#isPassedOn) return;
    this.#execution = undefined;
    await this.#write(() => ({ ...this.#own(), run_id: null, holder: null })).catch(() =>
      this.#warnNotWritten(),
    );
  }

  async #passOn(): Promise<void> {
    this.#stop.abort();
    await this.#write(() => ({ ...this.#own(), holder: null }));
    this.lost.throwIfAborted();
    this.#isPassedOn = true;
  }

  async #renewUntilStopped(): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(RENEWAL_MS, this.#stop.signal).catch(() => undefined);
      if (this.#stop.signal.aborted) return;
      await this.record();
    }
  }

  #own(): LeaseFacts {
    return {
      run_id: this.#runId,
      holder: this.#options.holder,
      execution: this.#execution,
      handed_over: this.#handedOver,
      use: this.#use(),
    };
  }

  /** One write after the other, each with what is true when its turn comes. Writes nothing over another's lease. */
  #write(facts: () => LeaseFacts): Promise<void> {
    const write = this.#lastWrite.then(() => (this.lost.aborted ? undefined : this.#replace(facts)));
    this.#lastWrite = write.catch(() => undefined);
    return write;
  }

  /**
   * Compare-and-swap on our own last version. A lost response to an earlier write of ours is no loss of the lease, nor is
   * a file that was damaged since.
   */
  async #replace(facts: () => LeaseFacts): Promise<void> {
    const { store, holder, clock } = this.#options;
    const key = store.keys.lease;
    const sentAt = instantOf(clock);
    const written = (version: string): void => {
      this.#version = version;
      this.#writtenAt = sentAt;
      this.#onWritten();
    };
    const bytes = encodeLease(leaseOf(facts(), sentAt.wallMs));
    const version = await store.replace(key, bytes, this.#version);
    if (version !== undefined) return written(version);
    const stored = await readLease(store);
    const found = stored?.lease;
    const isOthers = found !== undefined && found.holder?.token !== holder.token;
    const again = stored && !isOthers ? await store.replace(key, bytes, stored.version) : undefined;
    if (again === undefined) this.#lost.abort(new LeaseLost(isOthers ? found.run_id : null));
    else written(again);
  }

  #warnNotWritten(): void {
    this.#options.logger.warn("the lease could not be written; it expires by itself", {
      run_id: this.#runId,
    });
  }
}

interface Instant {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function instantOf(clock: Clock): Instant {
  return { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
}

export interface LeaseOptions {
  readonly store: AccountStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly holder: Holder;
}

/** What a process found when it took a lease, and what it took it for. */
interface TakenLease {
  readonly runId: string;
  /** The ARN of the execution that this process works for. */
  readonly execution: string | undefined;
  /** Of the file that it wrote. */
  readonly version: string;
  /** When that write was sent. */
  readonly writtenAt: Instant;
  readonly handedOver: HandedOver;
  /** The use of the budget by earlier holders. */
  readonly earlier: RateLimiterUsage;
  /** From when on `earlier` is complete, in milliseconds since the Unix epoch. */
  readonly knownSinceMs: number;
  /** Set where the holder before died without a release: until this instant it may have sent requests that are not counted. */
  readonly crashedAtMs: number | undefined;
}

export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly takenBy: string | null;

  constructor(takenBy: string | null) {
    super(`the lease was taken over${takenBy === null ? "" : ` by ${workOf(takenBy)}`}`);
    this.takenBy = takenBy;
  }
}

/** Commands that work on an account without making a run. They last seconds or minutes, a large `verify` longer. */
const COMMANDS = ["check", "discover", "verify", "remove"] as const;
export type LeasedCommand = (typeof COMMANDS)[number];

/** `check-2026-11-21T06-00-00.000Z`. */
export function leaseNameOf(command: LeasedCommand, startedAtMs: number): string {
  return `${command}-${formatRunId(startedAtMs)}`;
}

/** Undefined for a run. */
export function commandOf(leaseName: string): LeasedCommand | undefined {
  return COMMANDS.find((command) => leaseName.startsWith(`${command}-`));
}

/** In words, for messages: `the run 2026-11-21T06-00-00.000Z`, `the command check`. */
export function workOf(leaseName: string): string {
  const command = commandOf(leaseName);
  return command === undefined ? `the run ${leaseName}` : `the command ${command}`;
}

/** Another process or execution has the lease: for which run or command. */
export interface LeaseTaken {
  readonly takenBy: string;
  /** The ARN of the execution; undefined for a process. */
  readonly execution: string | undefined;
  /** Null for an execution. */
  readonly expiresAt: string | null;
}

/** A start that ends without a snapshot because another process works on the account, or because its login is withheld. */
export interface Skipped {
  readonly outcome: "SKIPPED";
  readonly reason: "LEASE_TAKEN" | "LEASE_LOST" | "LOGIN_REFUSED";
  readonly explanation: string;
}

export function skippedAsTaken({ takenBy, execution, expiresAt }: LeaseTaken): Skipped {
  const work = workOf(takenBy);
  const why =
    execution === undefined
      ? `${capitalized(work)} works on this account; its lease lasts until ${expiresAt} unless it is renewed.`
      : `${capitalized(work)} of this account was handed over to the execution ${nameOfExecution(execution)} of the state machine, and the lease is the execution's until it ends.`;
  return {
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation: `${why} Start again when it has ended.`,
  };
}

export function skippedAsLost({ takenBy }: LeaseLost): Skipped {
  const by = takenBy === null ? "" : `: ${workOf(takenBy)}`;
  return {
    outcome: "SKIPPED",
    reason: "LEASE_LOST",
    explanation: `Another process took over the lease of this account${by}. Staged work is kept. Start again when that process has ended.`,
  };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
