// The cases of the benchmark: the simulated service, the options of the job, and its target.

/** The simulated service of one case. */
export interface ServiceOptions {
  readonly events: number;
  /** Length of one event's details, in characters. */
  readonly eventLength: number;
  /** Length of one list entry, in characters. */
  readonly listingLength: number;
  readonly latencyMs: number;
  readonly requestsPerMinute?: number;
}

export interface JobOptions {
  readonly connections: number;
  readonly requestsPerMinute: number | "unlimited";
  /** One event in this many has changed since the head's snapshot. Without it there is no head. */
  readonly changedOneIn?: number;
}

/**
 * The figure to compare with the target: the wall time, relative to the bare loop's or to the shortest that the
 * budget allows, or the peak memory, alone or minus that of the same case with fewer events.
 */
type Measure =
  | { readonly kind: "against-bare-loop"; readonly most: number }
  | { readonly kind: "against-ideal"; readonly most: number }
  | { readonly kind: "peak-memory"; readonly mostMib: number }
  | { readonly kind: "memory-growth"; readonly fromEvents: number; readonly mostMib: number };

export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly service: ServiceOptions;
  readonly job: JobOptions;
  readonly measure: Measure;
  readonly rounds: number;
  /** Only the job runs: no bare loop, and not once more under the profiler. */
  readonly isLong?: true;
  /** Runs only if it is asked for by its name. */
  readonly isOnRequest?: true;
}

const ROUNDS = 5;
const SMALL = { eventLength: 2_000, listingLength: 200, latencyMs: 0 };
const TINY = { eventLength: 200, listingLength: 200, latencyMs: 0 };
const FAST = { connections: 32, requestsPerMinute: "unlimited" } as const;

export const CASES: readonly BenchCase[] = [
  {
    name: "latency",
    title: "2,000 × 2 KB at 50 ms, 32 connections",
    service: { ...SMALL, events: 2_000, latencyMs: 50 },
    job: FAST,
    measure: { kind: "against-bare-loop", most: 1.1 },
    rounds: ROUNDS,
  },
  {
    name: "first",
    title: "20,000 × 2 KB at 0 ms, first snapshot",
    service: { ...SMALL, events: 20_000 },
    job: FAST,
    measure: { kind: "against-bare-loop", most: 2.5 },
    rounds: ROUNDS,
  },
  {
    name: "head",
    title: "the same with a head to compare with, 1 % changed",
    service: { ...SMALL, events: 20_000 },
    job: { ...FAST, changedOneIn: 100 },
    measure: { kind: "against-bare-loop", most: 3.5 },
    rounds: ROUNDS,
  },
  {
    name: "large",
    title: "5,000 × 50 KB",
    service: { ...SMALL, events: 5_000, eventLength: 50_000 },
    job: FAST,
    measure: { kind: "peak-memory", mostMib: 256 },
    rounds: ROUNDS,
  },
  {
    name: "many",
    title: "50,000 against 2,000 events (200-byte listings)",
    service: { ...SMALL, events: 50_000 },
    job: FAST,
    measure: { kind: "memory-growth", fromEvents: 2_000, mostMib: 64 },
    rounds: ROUNDS,
  },
  {
    name: "hundred",
    title: "100,000 × 200 bytes, first snapshot",
    service: { ...TINY, events: 100_000 },
    job: FAST,
    measure: { kind: "peak-memory", mostMib: 256 },
    rounds: 1,
    isLong: true,
  },
  {
    name: "hundred-head",
    title: "the same with a head to compare with, 1 % changed",
    service: { ...TINY, events: 100_000 },
    job: { ...FAST, changedOneIn: 100 },
    measure: { kind: "peak-memory", mostMib: 256 },
    rounds: 1,
    isLong: true,
  },
  {
    name: "million",
    title: "1,000,000 × 200 bytes, with a head to compare with, 1 % changed",
    service: { ...TINY, events: 1_000_000 },
    job: { ...FAST, changedOneIn: 100 },
    measure: { kind: "memory-growth", fromEvents: 100_000, mostMib: 512 },
    rounds: 1,
    isLong: true,
    isOnRequest: true,
  },
  {
    name: "budget",
    title: "12,000 events at --requests-per-minute 4000 (3,600 used)",
    service: { ...SMALL, events: 12_000, requestsPerMinute: 4_000 },
    job: { connections: 32, requestsPerMinute: 4_000 },
    measure: { kind: "against-ideal", most: 1.05 },
    rounds: 1,
  },
];
