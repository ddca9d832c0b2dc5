import fc from "fast-check";
import { expect, test } from "vitest";
import { executionName, parseExecutionName } from "../../../../lambdas/job/run/hand-over/executions.ts";
import { nameOfExecution } from "../../../../lambdas/job/run/lease/lease-file.ts";
import { formatRunId } from "../../../../lambdas/job/storage/layout.ts";
import { executionsContract } from "./executions-contract.ts";
import { MemoryExecutions } from "./memory-executions.ts";

const RUN = "2026-11-21T06-00-00.000Z";
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

test.each([
  { account: "uk", n: 1, name: "uk-20261121T060000000Z-1" },
  { account: "a-1", n: 12, name: "a-1-20261121T060000000Z-12" },
  { account: "0_-", n: 7, name: "0_--20261121T060000000Z-7" },
])("$name names account, run and number", ({ account, n, name }) => {
  expect(executionName({ account, runId: RUN, n })).toBe(name);
  expect(parseExecutionName(name)).toEqual({ account, runId: RUN, n });
});

test.each([
  "uk",
  "uk-20261121T060000000Z",
  "uk-20261121T060000000Z-0",
  "uk-20261121T060000000Z-01",
  "uk-20261121T066000000Z-1",
  "UK-20261121T060000000Z-1",
  "-20261121T060000000Z-1",
  "uk-20261121T060000000Z-1\n",
])("%j is the name of something else", (name) => {
  expect(parseExecutionName(name)).toBeUndefined();
});

test("every name can be read back, has characters that Step Functions takes, and is short enough", () => {
  const account = fc
    .tuple(
      fc.constantFrom(...LETTERS),
      fc.string({ unit: fc.constantFrom(...LETTERS, "-", "_"), maxLength: 39 }),
    )
    .map(([first, rest]) => first + rest);
  const instant = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });

  fc.assert(
    fc.property(account, instant, fc.integer({ min: 1, max: 999_999_999 }), (one, instantMs, n) => {
      const named = { account: one, runId: formatRunId(instantMs), n };

      const name = executionName(named);

      expect(parseExecutionName(name)).toEqual(named);
      expect(name).toMatch(/^[\w-]{1,80}$/);
    }),
  );
});

test("an ARN ends in the name", () => {
  const arn = "arn:aws:states:eu-west-1:123456789012:execution:Stack-Continue:uk-20261121T060000000Z-1";

  expect(nameOfExecution(arn)).toBe("uk-20261121T060000000Z-1");
});

executionsContract(async () => {
  const executions = new MemoryExecutions();
  return {
    executions,
    end: async (arn) => {
      executions.end(arn, "ABORTED");
      return "ABORTED";
    },
  };
});
