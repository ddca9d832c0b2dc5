// The metrics as CloudWatch reads them: lines on standard output. Apart from the tests of other ports: while sources are mutated, a
// process of its own lacks what their runner brings.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const MODULE = new URL("../../../lambdas/sync/function-ports.ts", import.meta.url).href;

test("each call is one line, with the account as its dimension, in the namespace of the deployment", () => {
  const program = `
    const { cloudWatchMetrics } = await import(${JSON.stringify(MODULE)});
    const emit = cloudWatchMetrics("BrandEventsSync/Platform_Events");
    emit("uk", { Published: 1, Held: 0 });
    emit("us", { Failed: 1 });
    emit("us", {});
  `;

  const lines = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { env: {} });

  const metrics = lines
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const namespace = {
    CloudWatchMetrics: [{ Namespace: "BrandEventsSync/Platform_Events", Dimensions: [["account"]] }],
  };
  expect(metrics).toMatchObject([
    { _aws: namespace, account: "uk", Published: 1, Held: 0 },
    { _aws: namespace, account: "us", Failed: 1 },
  ]);
});
