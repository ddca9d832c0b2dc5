// What every implementation of the executions does.

import { describe, expect, test } from "vitest";
import type { EndStatus, Executions } from "../../../../lambdas/job/run/hand-over/executions.ts";

const NAME = "uk-20261121T060000000Z-1";
const INPUT = { account: "uk", runId: "2026-11-21T06-00-00.000Z", turn: 0 };

export interface ExecutionsUnderTest {
  /** Of a new state machine. */
  readonly executions: Executions;
  readonly end: (arn: string) => Promise<EndStatus>;
}

export function executionsContract(open: () => Promise<ExecutionsUnderTest>): void {
  describe("an execution", () => {
    test("is absent before it is started, and runs afterwards", async () => {
      const { executions } = await open();
      const arn = executions.arnOf(NAME);

      const before = await executions.describe(arn);
      const started = await executions.start(NAME, INPUT);

      expect(before).toEqual({ kind: "absent" });
      expect(started).toBe("started");
      expect(await executions.describe(arn)).toEqual({ kind: "running" });
    });

    test("that runs and is started again with the same input is the same one", async () => {
      const { executions } = await open();
      await executions.start(NAME, INPUT);

      expect(await executions.start(NAME, { turn: 0, runId: INPUT.runId, account: "uk" })).toBe("started");
    });

    test("that runs with another input has taken the name", async () => {
      const { executions } = await open();
      await executions.start(NAME, INPUT);

      expect(await executions.start(NAME, { ...INPUT, turn: 1 })).toBe("taken");
    });

    test("that has ended is described by its status, and has taken the name for good", async () => {
      const { executions, end } = await open();
      const arn = executions.arnOf(NAME);
      await executions.start(NAME, INPUT);
      const status = await end(arn);

      expect(await executions.describe(arn)).toMatchObject({
        kind: "ended",
        status,
        endedAtMs: expect.any(Number),
      });
      expect(await executions.start(NAME, INPUT)).toBe("taken");
    });
  });
}
