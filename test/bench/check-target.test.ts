import { describe, expect, it } from "vitest";
import type { BenchCase } from "./bench-case.ts";
import { checkTarget } from "./check-target.ts";
import type { MeasuredRun } from "./measured-process.ts";

const run = (change: Partial<MeasuredRun>): MeasuredRun => ({
  startUpMs: 400,
  wallMs: 1_000,
  requests: 12_002,
  throttled: 0,
  serviceCpuMs: 0,
  cpuMs: 0,
  mainThreadMs: 0,
  peakRssMib: 100,
  ...change,
});
const caseOf = (measure: BenchCase["measure"]): BenchCase => ({
  name: "a-case",
  title: "a case",
  service: { events: 12_000, eventLength: 2_000, listingLength: 200, latencyMs: 0 },
  job: { connections: 32, requestsPerMinute: 4_000 },
  measure,
  rounds: 3,
});
const walls = (...wallMs: readonly number[]) => wallMs.map((ms) => run({ wallMs: ms }));
const peaks = (...peakRssMib: readonly number[]) => peakRssMib.map((mib) => run({ peakRssMib: mib }));

describe("the target of a case", () => {
  it.each([
    [
      "the median wall time over the bare loop's",
      { kind: "against-bare-loop", most: 2.5 },
      walls(900, 250, 260),
      walls(100, 104, 300),
      "2.50× the bare loop",
      true,
    ],
    [
      "a ratio above the target",
      { kind: "against-bare-loop", most: 1.1 },
      walls(112),
      walls(100),
      "1.12× the bare loop",
      false,
    ],
    [
      "three windows after the first for 12,002 requests",
      { kind: "against-ideal", most: 1.05 },
      walls(189_000),
      [],
      "1.05× the ideal",
      true,
    ],
    [
      "the median peak",
      { kind: "peak-memory", mostMib: 256 },
      peaks(255, 300, 256),
      walls(1),
      "256 MiB",
      true,
    ],
    [
      "the growth of the median peak",
      { kind: "memory-growth", fromEvents: 2_000, mostMib: 64 },
      peaks(215),
      peaks(150),
      "65 MiB, 6816 bytes an event",
      false,
    ],
  ] as const)("is compared with %s", (_, measure, job, other, measured, isMet) => {
    expect(checkTarget(caseOf(measure), { job, other, phases: undefined })).toMatchObject({
      measured,
      isMet,
    });
  });
});
