import { expect, test } from "vitest";
import { LOG_QUERIES } from "../../lib/monitoring/dashboard.ts";
import { sectionOf } from "./markdown.ts";

test("the page names every saved query on the log, in the stack's order", () => {
  const named = [...sectionOf("aws.md", "### Dashboard and log").matchAll(/\*(.+?)\*/g)].map(
    ([, title]) => title,
  );

  expect(named).toEqual(LOG_QUERIES.map(({ title }) => title));
});
