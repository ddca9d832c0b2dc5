// The runbook names every reason for which a snapshot is held.

import { expect, test } from "vitest";
import { HOLD_REASONS } from "../../lambdas/job/run/publish/guard.ts";
import { column, tableBelow } from "./markdown.ts";

test("the runbook has a row for each reason, in the order of the guard", () => {
  expect(column(tableBelow("runbook.md", "## Held"), "Reason")).toEqual(HOLD_REASONS);
});
