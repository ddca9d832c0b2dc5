// The same events give the same lines in the same order, whatever the order and timing of list and responses.

import fc from "fast-check";
import { expect, test } from "vitest";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { readParts } from "../../../../../lambdas/job/snapshot/files/parts.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { hostileEvents } from "../../../../simulator/hostile-events.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const events = [...makeEvents(30), ...hostileEvents().filter(({ source }) => source.length < 100_000)];

test("the same events give the same lines, wherever parts are cut [D6]", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        shuffle: fc.integer(),
        concurrency: fc.integer({ min: 1, max: 40 }),
        rangeEvents: fc.integer({ min: 1, max: 70 }),
        duplicates: fc.nat(10),
        latencies: fc.array(fc.nat(300), { minLength: 1, maxLength: 5 }),
        encoding: fc.constantFrom("gzip" as const, "br" as const, undefined),
        pageSize: fc.integer({ min: 5, max: 100 }),
      }),
      async ({ shuffle, concurrency, rangeEvents, duplicates, latencies, encoding, pageSize }) => {
        const latencyMs = ({ n }: { n: number }): number => latencies[n % latencies.length] ?? 0;
        const list = { shuffle, duplicates, pageSize };
        await using sandbox = await Sandbox.start(
          { events, list, latencyMs, encoding },
          { concurrency, rangeEvents },
        );

        const { row } = await sandbox.run();

        const { parts } = await readManifest(accountStore(sandbox.store, ACCOUNT), row.snapshot_id ?? "");
        const prefix = layout(ACCOUNT).snapshot(row.snapshot_id ?? "");
        seen.add((await Array.fromAsync(readParts(sandbox.store, prefix, parts))).join("\n"));
        expect(seen.size).toBe(1);
      },
    ),
    { numRuns: 12 },
  );
});
