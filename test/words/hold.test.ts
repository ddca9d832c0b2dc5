import { expect, test } from "vitest";
import { whyHeld } from "../../lambdas/words/hold.ts";

test.each([
  [3, "u0, u1, u2."],
  [12, "u0, u1, u2 and 9 more."],
])("the first of %i events that cannot be read are named", (newly, named) => {
  const uuids = Array.from({ length: newly }, (_, index) => `u${index}`);
  const missing = { gone: 0, forbidden: 0, rejected: newly, unreadable: newly, oversize: 0, too_deep: 0 };

  expect(whyHeld({ reason: "UNREADABLE", listed: 5_000, newly, uuids, missing })).toBe(
    `${newly} of 5,000 listed events cannot be read, while others can: ${named}`,
  );
});
