// The first seeds of the simulation keep every promise, and each tells one story only. Its model knows two versions.

import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { expectPromisesKept, PATIENCE_MS } from "./expect-promises-kept.ts";
import { drawPlan } from "./plan/draw-plan.ts";
import { startOf } from "./plan/plan.ts";
import { simulate } from "./simulate.ts";
import type { Version } from "./versions/versions.ts";
import { World } from "./world.ts";

describe("the simulation", () => {
  test("keeps every promise in 25 histories", () => expectPromisesKept(1, 25), PATIENCE_MS);

  test("tells the same story again for the same seed, and another one for another", async () => {
    const digests = new Set<string>();
    for (const seed of [1, 2, 3]) {
      const [first, second] = [await simulate(drawPlan(seed)), await simulate(drawPlan(seed))];
      digests.add(first.digest);

      expect(second.digest, `seed ${seed}`).toBe(first.digest);
    }
    expect(digests.size).toBe(3);
  });
});

const OLD_RUN = "2026-01-05T06-00-00.000Z";
const NEW_RUN = "2026-01-05T06-10-00.000Z";
const ALL_LEFT_OUT = JSON.stringify({ place: 0, end: 1, rows: null, left_out: [] });

/** Two processes of two versions, each with a run that it has planned in a format of its own. */
function twoPlans(): World {
  const { setting, ...drawn } = drawPlan(1);
  const world = new World({
    ...drawn,
    setting: { ...setting, accounts: ["uk"], hasTwoVersions: true },
    items: [],
  });
  const begin = (process: string, version: Version, runId: string, format: number): void => {
    const start = startOf(process, "uk", 0, { name: "discover" });
    world.accounts[0]?.model.onStart(process, start, version);
    const header = `${JSON.stringify({ version: format })}\n`;
    world.objects.put(`runs/uk/${runId}/plan.ndjson.gz`, gzipSync(header), process);
  };
  begin("old", "0.1", OLD_RUN, 2);
  begin("new", "today", NEW_RUN, 3);
  return world;
}

describe("a run that another version has planned in its own format", () => {
  test.each([
    ["is finished by that version: old", "old", OLD_RUN, undefined],
    ["is finished by that version: new", "new", NEW_RUN, undefined],
    ["is left alone by the old one", "old", NEW_RUN, "old works at a plan of the format 3"],
    ["is left alone by the new one", "new", OLD_RUN, "new works at a plan of the format 2"],
  ])("%s", (_, process, runId, violation) => {
    const world = twoPlans();

    world.objects.put(`runs/uk/${runId}/record-00000000.json`, Buffer.from(ALL_LEFT_OUT), process);

    expect(world.violation?.split(",")[0]).toBe(violation);
  });
});
