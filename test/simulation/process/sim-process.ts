// One process of the world, and its clock. Everything it waits for goes through here: so it can be killed or paused at any
// await.

import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import { drawnFor, hashOf } from "../chance.ts";
import type { Coverage } from "../coverage.ts";
import type { CallFault, ClockFault, Port, ProcessFault } from "../plan/plan.ts";
import type { Story, Timeline } from "../timeline.ts";
import type { Job } from "../versions/job.ts";

type CalledPort = Exclude<Port, "any"> | "credentials" | "executions";

export interface SimProcessOptions {
  readonly name: string;
  /** What it runs. */
  readonly job: Job;
  readonly seed: number;
  readonly timeline: Timeline;
  readonly story: Story;
  readonly faults: readonly ProcessFault[];
  readonly hasFaults: () => boolean;
  readonly latencyMs: number;
  readonly coverage: Coverage;
}

/** How a call fails. The port says it in its own words, with the errors of the job that calls. */
export interface CallFailures {
  readonly refused?: Failure;
  readonly lost?: Failure;
  readonly conflict?: Failure;
}

type Failure = (job: Job) => unknown;

/** How the stores and catalogs name the calls that change something. */
const CHANGE = /^(?:creates|replaces|deletes|Put|Delete|Create|Upload|Complete|Abort|Update|Batch|starts)/;

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

export class SimProcess {
  readonly name: string;
  readonly job: Job;
  readonly #options: SimProcessOptions;
  readonly #stream: number;
  readonly #calls = { any: 0, store: 0, catalog: 0, service: 0, credentials: 0, executions: 0 };
  readonly #changes = new Map<string, number>();
  #pausedUntilMs = 0;
  #isDead = false;
  #onDeath = (): void => undefined;

  constructor(options: SimProcessOptions) {
    this.name = options.name;
    this.job = options.job;
    this.#options = options;
    this.#stream = hashOf(options.name) ^ options.seed;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** How many calls it has made. */
  get calls(): number {
    return this.#calls.any;
  }

  whenDead(react: () => void): void {
    this.#onDeath = react;
  }

  /** Nothing that it waits for ever comes back. */
  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#options.story.tell(this.name, "is killed");
    this.#onDeath();
  }

  /** For its memory to be given back: it waits for nothing any more. */
  end(): void {
    this.#isDead = true;
  }

  /** The fault of the next call of this port, if there is one; counts the call. */
  nextFault(port: CalledPort, what: string): CallFault | undefined {
    const { faults, hasFaults } = this.#options;
    this.#calls.any += 1;
    this.#calls[port] += 1;
    if (faults.length === 0 || !hasFaults()) return undefined;
    return faults.find((each) => {
      const nth = this.#number(each, port, what);
      const times = each.fault.kind === "answer" ? each.fault.times : 1;
      return nth >= each.nth && nth < each.nth + times;
    })?.fault;
  }

  /** Which of the calls that the fault is about this one is, from 1; 0: none of them. */
  #number(fault: ProcessFault, port: CalledPort, what: string): number {
    if (fault.changing === undefined) {
      if (fault.port === "any") return this.#calls.any;
      return fault.port === port ? this.#calls[port] : 0;
    }
    if (!CHANGE.test(what) || !what.includes(fault.changing)) return 0;
    const nth = (this.#changes.get(fault.changing) ?? 0) + 1;
    this.#changes.set(fault.changing, nth);
    return nth;
  }

  /** A call of the store or the catalog: `effect` happens at one instant, or not at all. */
  call<T>(
    port: Exclude<CalledPort, "service">,
    what: string,
    effect: () => T,
    failures: CallFailures,
    isRead = false,
  ): Promise<T> {
    if (this.#isDead) return never();
    const fault = this.nextFault(port, what);
    const { story, timeline, coverage } = this.#options;
    if (CHANGE.test(what)) coverage.noteCall(what, fault?.kind === "kill");
    this.take(fault);
    if (this.#isDead) return never();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const settle = (outcome: Outcome<T>): void => {
      story.tell(this.name, what, outcome);
      if (fault?.kind === "kill") this.kill();
      this.whenRunning(() => ("error" in outcome ? reject(outcome.error) : resolve(outcome.value)));
    };
    timeline.at(timeline.nowMs + this.latencyMs(fault), () => {
      const refusal = refusalOf(fault, failures, isRead);
      if (refusal) return settle({ error: refusal(this.job) });
      const outcome = outcomeOf(effect);
      const isLost = fault?.kind === "lose" && failures.lost !== undefined;
      settle(isLost ? { error: failures.lost?.(this.job) } : outcome);
    });
    return promise;
  }

  /** Kills or pauses the process where its fault says so. */
  take(fault: CallFault | undefined): void {
    if (fault?.kind === "kill" && fault.when === "before") this.kill();
    if (fault?.kind !== "pause") return;
    const { story, timeline } = this.#options;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, timeline.nowMs + fault.ms);
    story.tell(this.name, `is paused for ${fault.ms / 1_000} s`);
  }

  latencyMs(fault?: CallFault): number {
    const draw = drawnFor(this.#stream, this.#calls.any);
    // Most calls are quick, some take as long as the setting says.
    const usualMs = 1 + draw ** 4 * this.#options.latencyMs;
    return fault?.kind === "slow" ? usualMs + fault.ms : usualMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { timeline } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal?.aborted) {
      reject(signal.reason);
      return promise;
    }
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    timeline.at(timeline.nowMs + Math.max(0, ms), () =>
      this.whenRunning(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }),
    );
    return promise;
  }

  /** Now, at the end of a pause, or never. */
  whenRunning(react: () => void): void {
    if (this.#isDead) return;
    const { timeline } = this.#options;
    if (this.#pausedUntilMs > timeline.nowMs) {
      timeline.at(this.#pausedUntilMs, () => this.whenRunning(react));
    } else react();
  }
}

/** Says that nothing has happened. */
function refusalOf(
  fault: CallFault | undefined,
  { refused, conflict }: CallFailures,
  isRead: boolean,
): Failure | undefined {
  if (fault?.kind === "fail") return refused;
  return fault?.kind === "conflict" && !isRead ? conflict : undefined;
}

function outcomeOf<T>(effect: () => T): Outcome<T> {
  try {
    return { value: effect() };
  } catch (error) {
    return { error };
  }
}

export function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

/** Its wall clock may be wrong, jump or stand still; its monotonic clock never does. */
export class ProcessClock implements Clock {
  readonly #timeline: Timeline;
  readonly #process: SimProcess;
  readonly #fault: ClockFault | undefined;
  readonly #startMs: number;

  constructor(timeline: Timeline, process: SimProcess, fault: ClockFault | undefined) {
    this.#timeline = timeline;
    this.#process = process;
    this.#fault = fault;
    this.#startMs = timeline.nowMs;
  }

  now(): number {
    const { nowMs } = this.#timeline;
    const fault = this.#fault;
    if (fault === undefined) return Math.floor(nowMs);
    const { offsetMs, standsStill, jump } = fault;
    const shownMs = standsStill ? this.#startMs : nowMs;
    const jumpMs = jump !== undefined && nowMs - this.#startMs >= jump.afterMs ? jump.byMs : 0;
    return Math.floor(shownMs + offsetMs + jumpMs);
  }

  monotonicMs(): number {
    return this.#timeline.nowMs - this.#startMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#process.sleep(ms, signal);
  }
}
