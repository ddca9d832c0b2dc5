// What a case of the benchmark is: the simulated service, the options of the job, what it is compared with, its targets.

/** The simulated service of one case. */
export interface ServiceOptions {
  readonly events: number;
  /** Length of one event's details, in characters. */
  readonly eventLength: number;
  /** Length of one list entry, in characters. */
  readonly listingLength: number;
  readonly latencyMs: number;
  readonly requestsPerMinute?: number;
  /** Of these events the first request fails: with status 500, or because the connection is reset. */
  readonly failing?: { readonly statusOneIn: number; readonly resetOneIn: number };
  /** How fast the details of one event arrive. */
  readonly bytesPerSecond?: number;
  /** `https`, with a certificate of a private authority. */
  readonly isSecure?: true;
}

export interface JobOptions {
  readonly connections: number;
  readonly requestsPerMinute: number | "unlimited";
  /** One event in this many has changed since the head's snapshot. Without it there is no head. */
  readonly changedOneIn?: number;
}

/** The other program that runs in turn with the job, or the job itself under other conditions. */
export type Other = "bare loop" | "no faults" | { readonly fewerEvents: number } | "none";

/** A figure to compare with a target. */
export type Measure =
  /** The wall time over that of the other program. */
  | { readonly kind: "wall-ratio"; readonly most: number }
  /** The wall time over the shortest that the budget allows. */
  | { readonly kind: "against-ideal"; readonly most: number }
  /** The processor time of all threads, over the whole process. */
  | { readonly kind: "cpu-per-event"; readonly mostMs: number }
  /** The processor time of all threads up to the first connection. */
  | { readonly kind: "start-up"; readonly mostMs: number }
  | { readonly kind: "peak-memory"; readonly mostMib: number }
  /** The peak memory minus that of the same case with fewer events. */
  | { readonly kind: "memory-growth"; readonly mostMib: number };

export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly service: ServiceOptions;
  readonly job: JobOptions;
  readonly other: Other;
  readonly measures: readonly Measure[];
  readonly rounds: number;
  /** Not once more under the profiler. */
  readonly isLong?: true;
  /** Runs only if it is asked for by its name. */
  readonly isOnRequest?: true;
}
