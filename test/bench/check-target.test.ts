import { describe, expect, it } from "vitest";
import type { BenchCase, Measure, Other } from "./bench-case.ts";
import { checkTargets } from "./check-target.ts";
import type { MeasuredRun } from "./measured-process.ts";

const run = (change: Partial<MeasuredRun>): MeasuredRun => ({
  startUpMs: 400,
  startUpCpuMs: 170,
  wallMs: 1_000,
  toFirstDetailMs: 10,
  afterLastMs: 10,
  requests: 12_002,
  throttled: 0,
  serviceCpuMs: 0,
  cpuMs: 0,
  mainThreadMs: 0,
  peakRssMib: 100,
  ...change,
});
const caseOf = (measure: Measure, other: Other): BenchCase => ({
  name: "a-case",
  title: "a case",
  service: { events: 12_000, eventLength: 2_000, listingLength: 200, latencyMs: 0 },
  job: { connections: 32, requestsPerMinute: 4_000 },
  other,
  measures: [measure],
  rounds: 3,
});
const walls = (...wallMs: readonly number[]) => wallMs.map((ms) => run({ wallMs: ms }));
const peaks = (...peakRssMib: readonly number[]) => peakRssMib.map((mib) => run({ peakRssMib: mib }));

describe("the target of a case", () => {
  it.each([
    [
      "the median wall time over the bare loop's",
      { kind: "wall-ratio", most: 2.5 },
      "bare loop",
      walls(900, 250, 260),
      walls(100, 104, 300),
      "2.50× the bare loop",
      true,
    ],
    [
      "a ratio above the target",
      { kind: "wall-ratio", most: 1.1 },
      "no faults",
      walls(112),
      walls(100),
      "1.12× without faults",
      false,
    ],
    [
      "three windows after the first for 12,002 requests",
      { kind: "against-ideal", most: 1.05 },
      "none",
      walls(189_000),
      [],
      "1.05× the ideal",
      true,
    ],
    [
      "the processor time of an event",
      { kind: "cpu-per-event", mostMs: 0.13 },
      "bare loop",
      [run({ cpuMs: 1_680 })],
      walls(1),
      "0.14 ms an event",
      false,
    ],
    [
      "the processor time up to the first connection",
      { kind: "start-up", mostMs: 180 },
      "bare loop",
      [run({ startUpCpuMs: 171 })],
      walls(1),
      "171 ms",
      true,
    ],
    [
      "the median peak",
      { kind: "peak-memory", mostMib: 256 },
      "bare loop",
      peaks(255, 300, 256),
      walls(1),
      "256 MiB",
      true,
    ],
    [
      "the growth of the median peak",
      { kind: "memory-growth", mostMib: 64 },
      { fewerEvents: 2_000 },
      peaks(215),
      peaks(150),
      "65 MiB, 6816 bytes an event",
      false,
    ],
  ] as const)("is compared with %s", (_, measure, compared, job, other, measured, isMet) => {
    expect(checkTargets(caseOf(measure, compared), { job, other, phases: undefined })).toMatchObject([
      { measured, isMet },
    ]);
  });
});
