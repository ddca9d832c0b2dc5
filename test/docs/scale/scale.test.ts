import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LIST_CAPS } from "../../../lambdas/job/service/events/list/fetch-list.ts";
import { MAX_ENTRIES } from "../../../lambdas/job/service/events/list/list-page.ts";
import { allowance } from "../../../lambdas/job/settings/values.ts";
import { attemptMetrics } from "../../../lambdas/sync/report-result.ts";
import { PUBLISHED } from "../../sync/rows.ts";
import { sectionOf, tableBelow } from "../markdown.ts";
import { MEMORY_MB, type Scale, scaleRow } from "./scale-costs.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const SCALES: readonly Scale[] = [1_000, 50_000, 1_000_000].flatMap((events) =>
  ([60, 600, "unlimited"] as const).map((windowSeconds) => ({ events, windowSeconds })),
);

test("the table of times and costs is what the arithmetic gives", () => {
  expect(tableBelow("scale.md", "## Time and cost").rows).toEqual(SCALES.map(scaleRow));
});

test("the memory that the costs are reckoned with is that of the function", () => {
  expect(read("lib/compute/sync-function.ts")).toContain("memorySize: 1_769,");
  expect(MEMORY_MB).toBe(1_769);
  expect(sectionOf("scale.md", "## The arithmetic")).toContain("1,769 MB");
});

test("the costs of AWS count the metrics of an ordinary run", () => {
  const metrics = attemptMetrics({ row: PUBLISHED }, { requestsPerMinute: 200, windowMs: 60_000 });

  const counted = [...sectionOf("aws.md", "## Costs").matchAll(/\b(\d+) metrics(?! of alarms)/g)];
  expect(counted.map(([, n]) => Number(n))).toEqual([13, 13]);
  expect(Object.keys(metrics)).toHaveLength(13);
});

test("the pages name the limits of the source", () => {
  const limits = sectionOf("limits.md", "# Limits");
  expect(limits).toContain(`${MAX_ENTRIES.toLocaleString("en")} entries`);
  expect(limits).toContain(`${LIST_CAPS.page / 1_048_576} MiB a page`);
  expect(limits).toContain(`${LIST_CAPS.list / 1_048_576} MiB in all`);
  const arithmetic = sectionOf("scale.md", "## The arithmetic");
  expect(arithmetic).toContain(`${allowance(200)} requests`);
  expect(arithmetic).toContain(`${allowance(200, 600_000).toLocaleString("en")} requests`);
  expect(read("lambdas/sync/environment.ts")).toContain('.default("1000")');
  expect(sectionOf("scale.md", "## How far it reaches")).toContain("after 1,000 turns");
});
