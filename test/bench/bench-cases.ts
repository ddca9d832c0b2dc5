// The cases of the benchmark: the simulated service, and the targets.

/** What the simulated service has. */
export interface Load {
  readonly events: number;
  /** Length of one event's details, in characters. */
  readonly eventLength: number;
  /** One event in this many has changed since the head's snapshot. Without it there is no head. */
  readonly changedOneIn?: number;
}

/** A figure to compare with a target. */
export type Measure =
  /** The wall time over that of the bare loop. */
  | { readonly kind: "wall-ratio"; readonly most: number }
  /** The processor time of all threads, over the whole process. */
  | { readonly kind: "cpu-per-event"; readonly mostMs: number }
  /** The processor time of all threads up to the first connection. */
  | { readonly kind: "start-up"; readonly mostMs: number }
  | { readonly kind: "peak-memory"; readonly mostMib: number };

export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly load: Load;
  readonly measures: readonly Measure[];
  readonly rounds: number;
}

export const CASES: readonly BenchCase[] = [
  {
    name: "start",
    title: "10 events: the start of the program",
    load: { events: 10, eventLength: 2_000 },
    measures: [{ kind: "start-up", mostMs: 250 }],
    rounds: 7,
  },
  {
    name: "first",
    title: "20,000 × 2 KB, first snapshot",
    load: { events: 20_000, eventLength: 2_000 },
    measures: [{ kind: "wall-ratio", most: 1.7 }],
    rounds: 5,
  },
  {
    name: "head",
    title: "the same with a head to compare with, 1 % changed",
    load: { events: 20_000, eventLength: 2_000, changedOneIn: 100 },
    measures: [
      { kind: "wall-ratio", most: 1.6 },
      { kind: "cpu-per-event", mostMs: 0.13 },
    ],
    rounds: 5,
  },
  {
    name: "large",
    title: "5,000 × 50 KB",
    load: { events: 5_000, eventLength: 50_000 },
    measures: [
      { kind: "wall-ratio", most: 4 },
      { kind: "peak-memory", mostMib: 200 },
    ],
    rounds: 5,
  },
];
