import { expect, test } from "vitest";
import { LOG_QUERIES } from "../../lib/monitoring/log-queries.ts";
import { column, tableBelow } from "./markdown.ts";

test("the table of saved queries on the log has every one of the stack, in its order", () => {
  const titles = column(tableBelow("aws.md", "### Dashboard and log"), "Saved query");

  expect(titles).toEqual(LOG_QUERIES.map(({ title }) => `*${title}*`));
});
