// Keeps two runs of one account from spending the budget twice. A courtesy: correctness rests on write-once
// files and the publication log, never on the lease.

import type { Clock } from "../../runtime/clock.ts";
import type { Usage } from "../../service/rate-limit/usage-window.ts";
import { formatRunId } from "../../storage/layout.ts";
import { swap } from "../../storage/store.ts";
import { StartSkipped } from "../record/run-result.ts";
import type { WarehousePorts, WorldPorts } from "../run-ports.ts";
import { EXPIRY_MS, encodeLease, type Holder, type LeaseFacts, readLease } from "./lease-file.ts";

export const RENEWAL_MS = 20_000;

type LeasePorts = WorldPorts & WarehousePorts;

interface OwnFacts extends LeaseFacts {
  readonly run_id: string;
  readonly holder: Holder;
}

/** A lease that is ours, written again and again in the background until it is released, passed on or lost. */
export class Lease {
  /** The use of the budget by earlier holders. */
  readonly earlier: readonly Usage[];
  readonly #ports: LeasePorts;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  #facts: OwnFacts;
  #version: string;
  #use: () => readonly Usage[] = () => this.earlier;
  #lastWrite: Promise<void> = Promise.resolve();
  #isPassedOn = false;
  /** When the last write that succeeded was sent: other processes count from then, or later. */
  #writtenAt: Instant;
  #onWritten = (): void => undefined;

  /** @param version of the file that is replaced; undefined where there is none. Returns undefined where it has changed. */
  static async take(
    ports: LeasePorts,
    facts: OwnFacts,
    version: string | undefined,
  ): Promise<Lease | undefined> {
    const { store, clock } = ports;
    const sentAt = instantOf(clock);
    const written = await swap(store, store.keys.lease, encodeLease(facts, sentAt.wallMs), version);
    return written === undefined ? undefined : new Lease(ports, facts, written, sentAt);
  }

  private constructor(ports: LeasePorts, facts: OwnFacts, version: string, writtenAt: Instant) {
    this.#ports = ports;
    this.#facts = facts;
    this.earlier = facts.use;
    this.#version = version;
    this.#writtenAt = writtenAt;
    void this.#renewUntilStopped();
  }

  /** Aborts with a `StartSkipped` when another process has taken the lease. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** The execution that this process works for. */
  get execution(): string | undefined {
    return this.#facts.execution;
  }

  /** The number of this run's next hand-over, which no earlier one had. */
  get nextHandOver(): number {
    const { run_id, handed_over: last } = this.#facts;
    return last?.run_id === run_id ? last.n + 1 : 1;
  }

  /**
   * True where it has not been written for so long that another process may have taken it: this one was stopped for a
   * while, or the store fails. A clock that stands still while a computer sleeps hides it, so both are asked.
   */
  get isOverdue(): boolean {
    return this.execution === undefined && this.#unwrittenMs >= EXPIRY_MS;
  }

  /** True where a renewal was missed: this process was stopped for a while, or the store fails. */
  get isRenewalOverdue(): boolean {
    return this.#unwrittenMs >= 2 * RENEWAL_MS;
  }

  get #unwrittenMs(): number {
    const now = instantOf(this.#ports.clock);
    const { wallMs, monotonicMs } = this.#writtenAt;
    return Math.max(now.wallMs - wallMs, now.monotonicMs - monotonicMs);
  }

  /**
   * Sets the source of the budget's use, which is written at every renewal and at the release, also where nothing is sent.
   * @param onWritten called after each write that succeeded
   */
  carry(use: () => readonly Usage[], onWritten: () => void): void {
    this.#use = use;
    this.#onWritten = onWritten;
  }

  /** Writes the budget's use now. Never throws. */
  async record(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await this.#write(() => this.#own()).catch(() => this.#warnNotWritten());
  }

  /** From now on the lease is that of another run, which this start has adopted. */
  async adopt(runId: string): Promise<void> {
    const { run_id, started } = this.#facts;
    const own = started?.run_id === run_id ? { ...started, run_id: runId } : started;
    this.#facts = { ...this.#facts, run_id: runId, started: own };
    await this.#write(() => this.#own());
  }

  /** Makes sure, by writing it, that the lease is still ours. Throws `StartSkipped`. */
  async confirm(): Promise<void> {
    await this.#write(() => this.#own());
    // A process that was stopped at this write has learned only what was true then.
    if (this.isOverdue) await this.#write(() => this.#own());
    this.lost.throwIfAborted();
  }

  /** The execution of this run's hand-over `n` has the lease from now on, before it is started. Throws `StartSkipped`. */
  async handOver(execution: string, n: number): Promise<void> {
    this.#facts = { ...this.#facts, execution, handed_over: { run_id: this.#facts.run_id, n } };
    await this.leave();
  }

  /** Leaves the lease to the execution that this process works for, until its next invocation. Throws `StartSkipped`. */
  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#write(() => ({ ...this.#own(), holder: null }));
    this.lost.throwIfAborted();
    this.#isPassedOn = true;
  }

  /**
   * Frees the lease and leaves the budget's use in it for the next start, unless it was passed on. Never throws: the
   * lease of a process expires by itself, and that of an execution is free once the execution has ended.
   */
  async release(): Promise<void> {
    this.#stop.abort();
    if (this.#isPassedOn) return;
    // The holder stays: the next one has its clock, or another.
    const free = { execution: undefined, run_id: null };
    await this.#write(() => ({ ...this.#own(), ...free })).catch(() => this.#warnNotWritten());
  }

  async #renewUntilStopped(): Promise<void> {
    for (;;) {
      await this.#ports.clock.sleep(RENEWAL_MS, this.#stop.signal).catch(() => undefined);
      if (this.#stop.signal.aborted) return;
      await this.record();
    }
  }

  #own(): LeaseFacts {
    return { ...this.#facts, use: this.#use() };
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
    const { store, clock } = this.#ports;
    const key = store.keys.lease;
    const sentAt = instantOf(clock);
    const written = (version: string): void => {
      this.#version = version;
      this.#writtenAt = sentAt;
      this.#onWritten();
    };
    const bytes = encodeLease(facts(), sentAt.wallMs);
    const version = await store.replace(key, bytes, this.#version);
    if (version !== undefined) return written(version);
    const stored = await readLease(store);
    const found = stored?.lease;
    const isOthers = found !== undefined && found.holder?.token !== this.#facts.holder.token;
    const again = stored && !isOthers ? await store.replace(key, bytes, stored.version) : undefined;
    if (again === undefined) this.#lost.abort(leaseLost(isOthers ? found.run_id : null));
    else written(again);
  }

  #warnNotWritten(): void {
    const { run_id } = this.#facts;
    this.#ports.logger.warn("the lease could not be written; it expires by itself", { run_id });
  }
}

interface Instant {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

function instantOf(clock: Clock): Instant {
  return { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
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

function leaseLost(takenBy: string | null): StartSkipped {
  const by = takenBy === null ? "" : `: ${workOf(takenBy)}`;
  return new StartSkipped(
    "LEASE_LOST",
    `Another process took over the lease of this account${by}. Staged work is kept.`,
    ["Start again when that process has ended."],
  );
}
