// Everything impure that a run touches.

import type { Catalog } from "../catalog/catalog.ts";
import type { Advice } from "../errors/advice.ts";
import { SyncError } from "../errors/sync-error.ts";
import type { Clock, Random } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { EventService } from "../service/event-service.ts";
import type { RateLimiter } from "../service/rate-limit/rate-limiter.ts";
import type { AccountStore } from "../storage/store.ts";
import type { Executions } from "./hand-over/executions.ts";
import type { Holder } from "./lease/lease-file.ts";
import type { HoldFacts } from "./record/held-mark.ts";
import type { StartedRun } from "./record/run-event.ts";
import { type RunResult, StartSkipped } from "./record/run-result.ts";

/** What the runs of all accounts share. */
export interface SharedPorts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly version: string;
  /** What a run that stops early is handed over to; absent where nothing else can continue it. */
  readonly executions?: Executions | undefined;
}

/** The words of a person, made outside of the job. */
export interface Words {
  /** Why a snapshot is held: the sentence that is stored. */
  readonly hold: (facts: HoldFacts) => string;
  /** How advice reads where the log of this process is read. */
  readonly say: (advice: Advice) => string;
}

export interface RunPorts extends SharedPorts {
  readonly store: AccountStore;
  readonly words: Words;
  /** Identifies this process, so that another one can find out whether it still exists. */
  readonly process: Omit<Holder, "token">;
  readonly isGone: (holder: Holder) => boolean;
  /**
   * Reads the credentials and opens the service; sends nothing. Throws `CREDENTIALS_INVALID`.
   * @param hasWorked whether a base URL has answered rightly before
   */
  readonly openService: (
    rateLimiter: RateLimiter,
    hasWorked?: (baseUrl: string) => Promise<boolean>,
  ) => Promise<EventService>;
  readonly onProgress: (progress: Progress) => void;
  /** Called with the run's id once it is known, and again when the start adopts another run. */
  readonly onRunId?: (runId: string) => void;
  /** Called when a run begins to work, perhaps again after a crash. Never throws. */
  readonly onStarted?: (started: StartedRun) => Promise<void>;
  /** Called with the failure of a run whose execution has ended; perhaps more than once for one failure. */
  readonly onAbandoned?: (result: RunResult) => Promise<void>;
  /** The id of the request that started this: a retry by the platform has the same one. */
  readonly requestId?: string;
  /** Whether a schedule on this computer has started this, and no person: then refused credentials are not sent again. */
  readonly isUnattended?: boolean;
  /** Aborts with a `SyncError` `INTERRUPTED` when a person or the platform stops the run. */
  readonly signal: AbortSignal;
  /** How long this process may still work, in milliseconds; absent where nothing limits it. */
  readonly timeLeftMs?: () => number;
  /** How much of it is kept for what follows the last unit, in milliseconds. */
  readonly reserveMs?: number;
}

/** How far the collection is: finished events, all events, and retries. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly retries: number;
}

/** For work that a run can do without: a `SyncError` of it is a warning, and so is that another process has the lease. */
export async function orWarn(logger: Logger, what: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof StartSkipped) return logger.warn(`${what}: ${error.message}`);
    if (!(error instanceof SyncError)) throw error;
    logger.warn(`${what}: ${error.message}`, { error_code: error.code });
  }
}
