// What the model knows about one process.

import type { Start } from "../plan/plan.ts";
import type { Version } from "../versions/versions.ts";

export interface ProcessFacts {
  readonly name: string;
  readonly start: Start;
  readonly version: Version;
  readonly fromMs: number;
  /** Of a run: the one it works on now. */
  runId: string | undefined;
  /** When it wrote the lease first. */
  leaseFromMs: number | undefined;
  /** No other process was there at any time, nor shortly before. */
  wasAlone: boolean;
  hasSent: boolean;
  /** Of the list: the uuids of each page. */
  readonly readings: string[][][];
  /** The largest total that a page of the newest reading states; 0 where none does. */
  stated: number;
  /** The events that readers do not see, although they are listed: those that the heads of its time leave out. */
  readonly knownLeftOut: Set<string>;
  /** It has shown readers what was removed meanwhile. */
  hasPutBack: boolean;
  isOver: boolean;
}

/** One login of a process. */
export interface Login {
  readonly process: string;
  readonly password: string;
  /** Of the session that it opened. */
  cookie: string | undefined;
  /** Undefined: no answer came, or not yet. */
  status: number | undefined;
  /** A request with its session was answered otherwise than with a refusal. */
  wasAccepted: boolean;
  /** So many requests with it were refused, since it was accepted if it was. */
  refusals: number;
}
