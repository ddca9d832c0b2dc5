// What a lease begins with.

import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { RateLimiterUsage } from "../../service/rate-limit/rate-limiter.ts";
import type { Store } from "../../storage/store.ts";
import type { HandedOver, Holder } from "./lease-file.ts";

export interface LeaseOptions {
  readonly store: Store;
  readonly account: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly holder: Holder;
}

/** What a process found when it took a lease, and what it took it for. */
export interface TakenLease {
  readonly runId: string;
  /** The ARN of the execution that this process works for. */
  readonly execution: string | undefined;
  /** Of the file that it wrote. */
  readonly version: string;
  readonly handedOver: HandedOver;
  /** The use of the budget by earlier holders. */
  readonly earlier: RateLimiterUsage;
  /** From when on `earlier` is complete, in milliseconds since the Unix epoch. */
  readonly knownSinceMs: number;
  /** Set where the holder before died without a release: until this instant it may have sent requests that are not counted. */
  readonly crashedAtMs: number | undefined;
}
