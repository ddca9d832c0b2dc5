// A function with a time limit, a service with a budget, and a loop that acts as the state machine; all in virtual time.

import { setImmediate } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { parseExecutionName } from "../../../../lambdas/job/run/hand-over/executions.ts";
import { abandonRun } from "../../../../lambdas/job/run/hand-over/hand-over.ts";
import { nameOfExecution } from "../../../../lambdas/job/run/lease/lease-file.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import { continueRun, type TurnEnd } from "../../../../lambdas/job/run/run.ts";
import type { RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../../lambdas/job/run/run-settings.ts";
import type { RateLimiter, RequestKind } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { MemoryStore } from "../../storage/memory-store.ts";
import { ACCOUNT, type PortChanges, SmallWorld } from "../small-world.ts";
import { MemoryExecutions } from "./memory-executions.ts";

export const RUN = "2026-01-02T06-00-00.000Z";
export const FIRST = "uk-20260102T060000000Z-1";
export const SECOND = FIRST.replace("Z-1", "Z-2");
/** A second for each request, time for some of the events in an invocation. */
export const SMALL = { events: 12, rangeEvents: 4, requestMs: 1_000, limitSeconds: 14 };
const SECOND_MS = 1_000;
const RETRIES = 6;

export interface WorldOptions extends Partial<RunSettings> {
  readonly events: number;
  /** What an invocation may take. */
  readonly limitSeconds?: number;
  /** How long the service takes for one request. */
  readonly requestMs?: number;
  readonly maxTurns?: number;
}

export class HandOverWorld {
  readonly small: SmallWorld;
  readonly executions = new MemoryExecutions();
  /** When each request was sent. */
  readonly sentAtMs: number[] = [];
  /** Requests for details that were staged already. */
  wasted = 0;
  logins = 0;
  waitedSeconds = 0;
  readonly #options: WorldOptions;

  constructor(options: WorldOptions) {
    const { events, limitSeconds: _, requestMs: __, maxTurns: ___, ...settings } = options;
    this.#options = options;
    this.small = new SmallWorld({ concurrency: 1, rangeEvents: 180, ...settings });
    this.small.show(events);
  }

  /** What a new invocation is given. */
  ports(changes: PortChanges = {}): RunPorts {
    const { clock } = this.small;
    const { limitSeconds = 900 } = this.#options;
    const endMs = clock.monotonicMs() + limitSeconds * SECOND_MS;
    return this.small.ports({
      process: {},
      isGone: () => false,
      executions: this.executions,
      timeLeftMs: () => endMs - clock.monotonicMs(),
      reserveMs: Math.min(30, limitSeconds / 2) * SECOND_MS,
      openService: (limiter) => this.#open(limiter),
      ...changes,
    });
  }

  /** The first invocation, of the schedule unless it names no run. */
  first(changes: PortChanges = {}, runId: string | undefined = RUN): Promise<RunResult> {
    return this.small.run(runId === undefined ? {} : { runId }, this.ports(changes));
  }

  byHand(changes: PortChanges = {}): Promise<RunResult> {
    return this.small.run({}, this.ports(changes));
  }

  /** One invocation by the state machine. Throws as the function does. */
  async turn(arn: string, turn: number, changes: PortChanges = {}): Promise<TurnEnd> {
    this.small.clock.advance(1);
    const { maxTurns = 1_000 } = this.#options;
    const runId = parseExecutionName(nameOfExecution(arn))?.runId ?? "";
    const end = await continueRun(this.ports(changes), this.small.settings, {
      runId,
      execution: arn,
      turn,
      maxTurns,
    });
    if (end.result.error && !end.result.isRepeat) throw end.result.error;
    return end;
  }

  /** Acts as the state machine until no execution runs. Returns the results of all turns. */
  async play(changes: () => PortChanges = () => ({})): Promise<readonly RunResult[]> {
    const results: RunResult[] = [];
    for (let { running } = this.executions; running; { running } = this.executions) {
      results.push(...(await this.#playOne(running.arn, running.input.turn, changes)));
    }
    return results;
  }

  async #playOne(arn: string, fromTurn: number, changes: () => PortChanges): Promise<readonly RunResult[]> {
    const results: RunResult[] = [];
    let retries = 0;
    for (let turn = fromTurn; ; ) {
      try {
        const { result, isDone, waitSeconds } = await this.turn(arn, turn, changes());
        results.push(result);
        turn += 1;
        retries = 0;
        this.waitedSeconds += waitSeconds;
        this.small.clock.advance(waitSeconds * SECOND_MS);
        if (!isDone) continue;
        this.executions.end(arn, "SUCCEEDED");
        return results;
      } catch (error) {
        retries += 1;
        this.small.clock.advance(60 * SECOND_MS * 2 ** (retries - 1));
        if (error instanceof SyncError && (!error.isRetryable || retries > RETRIES)) {
          const cause = JSON.stringify({ errorType: error.code, errorMessage: error.message });
          this.executions.end(arn, "FAILED", error.code, cause);
          return results;
        }
      }
    }
  }

  abandon(arn: string, changes: PortChanges = {}) {
    const runId = parseExecutionName(nameOfExecution(arn))?.runId ?? "";
    return abandonRun(this.ports(changes), this.executions, this.small.settings, { runId, execution: arn });
  }

  lease(): Record<string, unknown> {
    return JSON.parse(this.small.store.text(layout(ACCOUNT).lease) ?? "{}");
  }

  /** The run log's lines, in order. */
  log(): readonly Record<string, unknown>[] {
    const { store } = this.small;
    const keys = store.keys("run-log/").toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
    return keys.map((key) => JSON.parse(store.text(key) ?? ""));
  }

  /** The uncompressed parts of a snapshot, one after the other. */
  async parts(snapshotId: string): Promise<string> {
    const keys = this.small.store.keys(layout(ACCOUNT).snapshot(snapshotId));
    const texts = keys
      .filter((key) => key.includes("/part-"))
      .map(async (key) => {
        const stored = await this.small.store.read(key);
        return gunzipSync(stored?.bytes ?? new Uint8Array()).toString();
      });
    return (await Promise.all(texts)).join("");
  }

  /** The most requests in any window of this length. */
  fullest(windowMs: number): number {
    return Math.max(
      ...this.sentAtMs.map((fromMs) => {
        return this.sentAtMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + windowMs).length;
      }),
    );
  }

  async #open(limiter: RateLimiter): ReturnType<RunPorts["openService"]> {
    const { clock, store } = this.small;
    const { requestMs = 50 } = this.#options;
    const service = await this.small.ports().openService(limiter);
    const counts = { requests: 0, retries: 0, throttled: 0, logins: 0, bytes: 0 };
    const send = async <T>(kind: RequestKind, work: () => Promise<T>): Promise<T> => {
      let permit = limiter.tryAcquire(kind);
      for (; permit === undefined; permit = limiter.tryAcquire(kind)) {
        await setImmediate(); // the use of the budget may be on its way into the lease
        clock.advance(SECOND_MS);
      }
      this.sentAtMs.push(clock.monotonicMs());
      counts.requests += 1;
      clock.advance(requestMs);
      permit.settle(100);
      return work();
    };
    let isLoggedIn = false;
    const logIn = async (): Promise<void> => {
      if (isLoggedIn) return;
      isLoggedIn = true;
      this.logins += 1;
      counts.logins += 1;
      await send("other", async () => undefined);
    };
    const uuids = [...this.small.truth().keys()];
    return {
      logIn,
      list: async (signal) => {
        await logIn();
        return send("other", () => service.list(signal));
      },
      detail: async (requestAs, signal) => {
        await logIn();
        if (uuids.indexOf(requestAs) < recordedEnd(store)) this.wasted += 1;
        return send("detail", () => service.detail(requestAs, signal));
      },
      close: async () => undefined,
      counts,
    };
  }
}

/** The first planned event of the run that no record covers. */
function recordedEnd(store: MemoryStore): number {
  const keys = store.keys(layout(ACCOUNT).run(RUN)).filter((key) => key.includes("/record-"));
  return Math.max(0, ...keys.map((key): number => JSON.parse(store.text(key) ?? "").end));
}
