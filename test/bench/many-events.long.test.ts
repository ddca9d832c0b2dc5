import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BenchEnvironment, buildForBench } from "./bench-environment.ts";

/** On a machine that is busy with other things. */
const TIMEOUT_MS = 20 * 60_000;

test(
  "100,000 events of 200 bytes, and a head to compare with, take no more than 256 MiB",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "brand-events-many-"));
    try {
      await using environment = await BenchEnvironment.open({
        load: { events: 100_000, eventLength: 200, changedOneIn: 100 },
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
