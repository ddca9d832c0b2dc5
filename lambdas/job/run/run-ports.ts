// Everything impure that a run touches, in four groups.

import type { Catalog } from "../catalog/catalog.ts";
import type { Advice } from "../errors/advice.ts";
import type { Clock, Random } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { EventService } from "../service/event-service.ts";
import type { RateLimiter } from "../service/rate-limit/rate-limiter.ts";
import type { AccountStore } from "../storage/store.ts";
import type { Executions } from "./hand-over/executions.ts";
import type { Holder } from "./lease/lease-file.ts";
import type { HoldFacts } from "./record/held-mark.ts";
import type { StartedRun } from "./record/run-event.ts";
import type { RunResult } from "./record/run-result.ts";

/** What is the same for everything that a process does. */
export interface WorldPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly version: string;
}

/** Where an account's snapshots are, and where readers find them. */
export interface WarehousePorts {
  readonly store: AccountStore;
  readonly catalog: Catalog;
}

/** The process that works: what started it, how long it may work, and what continues its work. */
export interface HostPorts {
  /** Identifies this process, so that another one can find out whether it still exists. */
  readonly process: Omit<Holder, "token">;
  readonly isGone: (holder: Holder) => boolean;
  /** Aborts with a `SyncError` `INTERRUPTED` when a person or the platform stops the run. */
  readonly signal: AbortSignal;
  /** How long this process may still work, in milliseconds; absent where nothing limits it. */
  readonly timeLeftMs?: () => number;
  /** How much of it is kept for what follows the last unit, in milliseconds. */
  readonly reserveMs?: number;
  /** The id of the request that started this: a retry by the platform has the same one. */
  readonly requestId?: string;
  /** Whether a schedule on this computer has started this, and no person: then refused credentials are not sent again. */
  readonly isUnattended?: boolean;
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

/** What is told while a run works. */
export interface RunHooks {
  readonly words: Words;
  readonly onProgress: (progress: Progress) => void;
  /** Called with the run's id once it is known, and again when the start adopts another run. */
  readonly onRunId?: (runId: string) => void;
  /** Called when a run begins to work, perhaps again after a crash. Never throws. */
  readonly onStarted?: (started: StartedRun) => Promise<void>;
  /** Called with the failure of a run whose execution has ended; perhaps more than once for one failure. */
  readonly onAbandoned?: (result: RunResult) => Promise<void>;
}

/** What uses the service has all of it; a callee takes the groups that it needs. */
export interface RunPorts extends WorldPorts, WarehousePorts, HostPorts, RunHooks {
  /**
   * Reads the credentials and opens the service; sends nothing. Throws `CREDENTIALS_INVALID`.
   * @param hasWorked whether a base URL has answered rightly before
   */
  readonly openService: (
    rateLimiter: RateLimiter,
    hasWorked?: (baseUrl: string) => Promise<boolean>,
  ) => Promise<EventService>;
}

/** How far the collection is: finished events, all events, and retries. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly retries: number;
}
