import { describe, expect, it } from "vitest";
import { type CpuProfile, phasesOf } from "./phases.ts";

const USAGE = { cpuMs: 1_000, mainThreadMs: 700, startUpCpuMs: 170, peakRssMib: 100 };

/** One sample of one millisecond for each stack, outermost file first. */
function profileOf(...stacks: readonly (readonly string[])[]): CpuProfile {
  const nodes = stacks.flatMap((stack, index) =>
    stack.map((url, depth) => ({
      id: index * 10 + depth,
      callFrame: url.startsWith("(") ? { functionName: url, url: "" } : { functionName: "work", url },
      children: depth + 1 < stack.length ? [index * 10 + depth + 1] : [],
    })),
  );
  const samples = stacks.map((stack, index) => index * 10 + stack.length - 1);
  return { nodes, samples, timeDeltas: stacks.map(() => 1_000) };
}

const API_CLIENT = "file:///here/lambdas/job/service/requests/api-client.ts";
const MERGE = "file:///here/lambdas/job/run/build/snapshot-builder.ts";
const COMMIT = "file:///here/lambdas/job/run/publish/commit.ts";
const ROW = "file:///here/lambdas/job/snapshot/rows/row.ts";
const ZLIB = "node:zlib";

describe("a profile", () => {
  it("is divided by stage, and during the fetch of details by the innermost file", () => {
    const profile = profileOf(
      ["file:///here/bin/sync.ts"],
      [API_CLIENT],
      [API_CLIENT, ROW],
      ["(idle)"],
      [ZLIB],
      ["(garbage collector)"],
      ["node:net"],
      [MERGE],
      [ZLIB],
      [MERGE, ROW],
      [COMMIT],
      [ROW],
      [COMMIT],
      [ZLIB],
    );

    expect(phasesOf(profile, USAGE)).toEqual({
      "start-up": 1,
      fetch: 2,
      "parse and scan": 1,
      stage: 1,
      build: 3,
      diff: 3,
      finish: 1,
      "memory management": 1,
      "other threads": 300,
    });
  });

  it("has merging in two places: while details are fetched, and after the last one", () => {
    const profile = profileOf(
      [API_CLIENT],
      [MERGE, ROW],
      [API_CLIENT, ROW],
      ["node:net"],
      [API_CLIENT],
      [MERGE],
      [ZLIB],
      [COMMIT],
    );

    expect(phasesOf(profile, USAGE)).toMatchObject({
      fetch: 3,
      "parse and scan": 1,
      stage: 0,
      build: 3,
      diff: 1,
    });
  });
});
