import { expect, test } from "vitest";
import type { Measure } from "./bench-cases.ts";
import type { MeasuredRun } from "./bench-environment.ts";
import { checkTargets } from "./report.ts";

const runs = (figure: keyof MeasuredRun, ...values: readonly number[]): readonly MeasuredRun[] =>
  values.map((value) => ({
    startUpCpuMs: 170,
    wallMs: 1_000,
    requests: 12_002,
    cpuMs: 0,
    peakRssMib: 100,
    [figure]: value,
  }));

test.each<readonly [string, Measure, readonly MeasuredRun[], string, boolean]>([
  [
    "the median wall time over the bare loop's",
    { kind: "wall-ratio", most: 2.5 },
    runs("wallMs", 900, 250, 260),
    "2.50× the bare loop",
    true,
  ],
  [
    "a ratio above the target, of an even number of runs",
    { kind: "wall-ratio", most: 1.1 },
    runs("wallMs", 100, 116, 130, 113),
    "1.10× the bare loop",
    false,
  ],
  [
    "the processor time of an event",
    { kind: "cpu-per-event", mostMs: 0.13 },
    runs("cpuMs", 1_680),
    "0.14 ms an event",
    false,
  ],
  [
    "the processor time up to the first connection",
    { kind: "start-up", mostMs: 180 },
    runs("startUpCpuMs", 171),
    "171 ms",
    true,
  ],
  [
    "the median peak",
    { kind: "peak-memory", mostMib: 256 },
    runs("peakRssMib", 255, 300, 256),
    "256 MiB",
    true,
  ],
])("the target of a case is compared with %s", (_, measure, job, measured, isMet) => {
  const load = { events: 12_000, eventLength: 2_000 };
  const bench = { name: "a-case", title: "a case", load, measures: [measure], rounds: 3 };
  const bareLoop = runs("wallMs", 100, 104, 300);

  expect(checkTargets(bench, { job, bareLoop })).toMatchObject([{ measured, isMet }]);
});
