import { expect, test } from "vitest";
import { formatRunId, runInstant } from "../../../lambdas/job/storage/layout.ts";

test("a run id is the start instant in UTC", () => {
  expect(formatRunId(Date.UTC(2026, 10, 21, 6, 0, 0, 0))).toBe("2026-11-21T06-00-00.000Z");
});

test.each([
  { id: "2026-11-21T06-00-00.000Z", instant: Date.UTC(2026, 10, 21, 6) },
  { id: "2026-11-21T06:00:00.000Z", instant: undefined },
  { id: "2026-13-45T06-00-00.000Z", instant: undefined },
  { id: "../../etc", instant: undefined },
])("$id names the instant $instant", ({ id, instant }) => {
  expect(runInstant(id)).toBe(instant);
});
