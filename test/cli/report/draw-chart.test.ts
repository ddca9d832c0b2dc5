// A drawing is the same each time, and nothing in it needs an exception in the page's policy.

import { expect, test } from "vitest";
import { drawChart } from "../../../bin/cli/report/charts/draw-chart.ts";

const POINTS = {
  width: 100,
  height: 40,
  data: { values: [{ place: 1, count: 3 }] },
  encoding: {
    x: { field: "place", type: "quantitative" },
    y: { field: "count", type: "quantitative", axis: { labelExpr: "'a \"b\" <i> & ' + datum.value" } },
  },
};

test("ids in a drawing are the same each time", async () => {
  const clipped = { ...POINTS, mark: { type: "point", clip: true } };

  const [first, second] = [await drawChart(clipped, "x"), await drawChart(clipped, "x")];

  expect(first).toMatch(/ clip-path="url\(#clip\d\)"/);
  expect(second).toBe(first);
});

test("a drawing has its label, escaped texts, and neither roles nor styles of its own", async () => {
  const svg = await drawChart({ ...POINTS, mark: "point" }, "one point");

  expect(svg).toMatch(
    /^<svg viewBox="0 0 [\d.]+ [\d.]+" width="[\d.]+" height="[\d.]+" role="img" aria-label="one point"><g /,
  );
  expect(svg).toContain("&lt;i&gt; &amp; 0");
  expect(svg.match(/ (?:role|style|aria-[a-z]+|class)=/g)).toEqual([" role=", " aria-label="]);
  expect(svg).not.toMatch(/\d\.\d{3}/);
});

test("what Vega warns of is an error", async () => {
  const { x } = POINTS.encoding;

  await expect(drawChart({ ...POINTS, mark: "bar", encoding: { x, shape: x } }, "x")).rejects.toThrow(
    /^Vega: /,
  );
});
