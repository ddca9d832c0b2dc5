import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CASES } from "./bench-cases.ts";
import { BenchEnvironment } from "./bench-environment.ts";
import { buildForBench } from "./programs.ts";

/** On a machine that is busy with other things. */
const TIMEOUT_MS = 20 * 60_000;

test(
  "100,000 events of 200 bytes, and a head to compare with, take no more than 256 MiB",
  async () => {
    const bench = CASES.find(({ name }) => name === "hundred-head");
    if (bench === undefined) throw new Error("the case is missing");
    const folder = await mkdtemp(join(tmpdir(), "brand-events-many-"));
    try {
      await using environment = await BenchEnvironment.open({
        ...bench,
        program: await buildForBench(),
        folder: join(folder, "job"),
      });

      const { requests, peakRssMib } = await environment.runJob();

      expect(requests).toBe(100_002);
      expect(peakRssMib).toBeLessThanOrEqual(256);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  TIMEOUT_MS,
);
