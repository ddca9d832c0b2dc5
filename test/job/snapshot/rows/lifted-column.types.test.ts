import { expect, test } from "vitest";
import {
  DAY,
  DAY_FORM,
  INSTANT,
  TIME_FORM,
  ZONE_FORM,
} from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";

test("what is suggested as a day or an instant has the form that the views read", () => {
  expect(DAY.source).toBe(`^${DAY_FORM}$`);
  expect(INSTANT.source).toBe(`^${DAY_FORM}[T ]${TIME_FORM}${ZONE_FORM}?$`);
});
